import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import java.util.Scanner;
import org.openapitools.client.*;
import org.openapitools.client.api.PetsApi;
import org.openapitools.client.model.Error;
import org.openapitools.client.model.NewPet;

public class Driver {
  public static void main(String[] args) throws Exception {
    for (Scanner input = new Scanner(System.in, "UTF-8"); input.hasNextLine(); ) {
      JsonObject call = JsonParser.parseString(input.nextLine()).getAsJsonObject();
      JsonObject result = new JsonObject();
      try {
        ApiResponse<?> response = send(call);
        result.add("data", JSON.getGson().toJsonTree(response.getData()));
        result.addProperty("link", String.join("", response.getHeaders().getOrDefault("link", List.of())));
      } catch (ApiException failure) {
        result.add("error", JSON.getGson().toJsonTree(Error.fromJson(failure.getResponseBody())));
      }
      System.out.println(result);
    }
  }

  static ApiResponse<?> send(JsonObject call) throws Exception {
    ApiClient client = new ApiClient().setBasePath(System.getenv("BASE_URL"));
    client.setBearerToken(call.get("apiKey").getAsString());
    PetsApi api = new PetsApi(client);
    if (call.has("id")) return api.getPetWithHttpInfo(call.get("id").getAsLong());
    if (call.has("pet")) {
      NewPet pet = NewPet.fromJson(call.get("pet").toString());
      return api.createPetWithHttpInfo(pet, call.get("key").getAsString());
    }
    String cursor = call.has("cursor") ? call.get("cursor").getAsString() : null;
    return api.listPetsWithHttpInfo(2, null, cursor);
  }
}
