import com.fasterxml.jackson.databind.*;
import java.time.Duration;
import java.util.*;
import org.openapitools.client.*;
import org.openapitools.client.api.PetsApi;
import org.openapitools.client.model.*;

public class Main {
  static class Call {
    public String apiKey, key, cursor;
    public Long id;
    public NewPet pet;
  }

  static ApiResponse<?> send(PetsApi api, Call call) throws ApiException {
    if (call.pet != null) return api.createPetWithHttpInfo(call.pet, call.key);
    if (call.id != null) return api.getPetWithHttpInfo(call.id);
    return api.listPetsWithHttpInfo(2, null, call.cursor);
  }

  public static void main(String[] arguments) throws Exception {
    var json = new ObjectMapper();
    var scanner = new Scanner(System.in);
    while (scanner.hasNextLine()) {
      var call = json.readValue(scanner.nextLine(), Call.class);
      var client = new ApiClient()
          .setReadTimeout(Duration.ofSeconds(30))
          .setRequestInterceptor(request -> request.header("Authorization", "Bearer " + call.apiKey));
      client.updateBaseUri(System.getenv("BASE_URL"));
      var result = new HashMap<String, Object>();
      try {
        var response = send(new PetsApi(client), call);
        result.put("status", response.getStatusCode());
        result.put("data", response.getData());
        result.put("link", response.getHeaders().getOrDefault("link", List.of()).stream().findFirst().orElse(null));
      } catch (ApiException exception) {
        result.put("status", exception.getCode());
        try {
          result.put("error", json.readTree(exception.getResponseBody()));
        } catch (Exception ignored) {
          // AWS sent a body that is not JSON.
        }
      }
      System.out.println(json.writeValueAsString(result));
    }
  }
}
