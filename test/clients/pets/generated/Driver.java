import java.util.*;
import okhttp3.OkHttpClient;
import org.openapitools.client.*;
import org.openapitools.client.api.PetsApi;
import org.openapitools.client.model.*;

class Driver {
  record Call(String apiKey, String key, String cursor, Long id, NewPet pet) {}

  static ApiResponse<?> send(PetsApi api, Call call) throws ApiException {
    if (call.pet != null) return api.createPetWithHttpInfo(call.pet, call.key);
    if (call.id != null) return api.getPetWithHttpInfo(call.id);
    return api.listPetsWithHttpInfo(2, null, call.cursor);
  }

  public static void main(String[] arguments) {
    var scanner = new Scanner(System.in);
    while (scanner.hasNextLine()) {
      var call = JSON.getGson().fromJson(scanner.nextLine(), Call.class);
      var client = new ApiClient().setBasePath(System.getenv("BASE_URL")).setReadTimeout(30_000);
      client.setBearerToken(call.apiKey);
      var result = new HashMap<String, Object>();
      try {
        var response = send(new PetsApi(client), call);
        result.put("status", response.getStatusCode());
        result.put("data", response.getData());
        result.put("link", response.getHeaders().getOrDefault("link", List.of()).stream().findFirst().orElse(null));
      } catch (ApiException exception) {
        result.put("status", exception.getCode());
        try {
          result.put("error", org.openapitools.client.model.Error.fromJson(exception.getResponseBody()));
        } catch (Exception ignored) {
          // AWS sent a body that is not an Error.
        }
      }
      System.out.println(JSON.serialize(result));
    }
  }
}
