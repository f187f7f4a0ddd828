import com.squareup.moshi.Moshi
import com.squareup.moshi.kotlin.reflect.KotlinJsonAdapterFactory
import java.util.concurrent.TimeUnit
import okhttp3.OkHttpClient
import org.openapitools.client.apis.PetsApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ApiResponse
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ServerError
import org.openapitools.client.infrastructure.Success
import org.openapitools.client.models.NewPet
import org.openapitools.client.models.Pet

class Call(val apiKey: String, val key: String?, val cursor: String?, val id: Long?, val pet: NewPet?)

class Result(val status: Int, val data: Any? = null, val link: String? = null, val error: Any? = null)

val moshi: Moshi = Moshi.Builder().add(KotlinJsonAdapterFactory()).build()
val http = OkHttpClient.Builder()
    .callTimeout(30, TimeUnit.SECONDS)
    .readTimeout(30, TimeUnit.SECONDS)
    .followRedirects(false)
    .build()

fun send(api: PetsApi, call: Call): ApiResponse<out Any?> = when {
    call.pet != null -> api.createPetWithHttpInfo(call.pet, call.key)
    call.id != null -> api.getPetWithHttpInfo(call.id)
    else -> api.listPetsWithHttpInfo(2, null, call.cursor)
}

fun main() {
    for (line in generateSequence(::readLine)) {
        val call = moshi.adapter(Call::class.java).fromJson(line)!!
        ApiClient.accessToken = call.apiKey
        val result = when (val response = send(PetsApi(System.getenv("BASE_URL"), http), call)) {
            is Success -> Result(response.statusCode, response.data, response.headers["link"]?.first())
            is ClientError -> Result(response.statusCode, error = parsed(response.body))
            is ServerError -> Result(response.statusCode, error = parsed(response.body))
            else -> Result(response.statusCode)
        }
        println("""{"status":${result.status},"data":${json(result.data)},"link":${json(result.link)},"error":${json(result.error)}}""")
    }
}

/** Returns the Error in a body, or null, because AWS can send a body that is not an Error. */
fun parsed(body: Any?): Any? =
    runCatching { moshi.adapter(org.openapitools.client.models.Error::class.java).fromJson(body as String) }.getOrNull()

fun json(value: Any?): String = when (value) {
    null -> "null"
    is List<*> -> value.joinToString(",", "[", "]", transform = ::json)
    is Pet -> moshi.adapter(Pet::class.java).toJson(value)
    else -> moshi.adapter<Any>(value.javaClass).toJson(value)
}
