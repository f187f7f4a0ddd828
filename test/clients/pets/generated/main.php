<?php
require __DIR__ . '/vendor/autoload.php';

use GuzzleHttp\Client;
use OpenAPI\Client\Api\PetsApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\NewPet;

function send(PetsApi $api, stdClass $call): array
{
    return match (true) {
        isset($call->pet) => $api->createPetWithHttpInfo(
            new NewPet(array_map(fn($field) => $call->pet->$field ?? null, NewPet::attributeMap())),
            $call->key,
        ),
        isset($call->id) => $api->getPetWithHttpInfo($call->id),
        default => $api->listPetsWithHttpInfo(limit: 2, cursor: $call->cursor ?? null),
    };
}

while (($line = fgets(STDIN)) !== false) {
    $call = json_decode($line);
    $configuration = (new Configuration())->setHost(getenv('BASE_URL'))->setAccessToken($call->apiKey);
    $api = new PetsApi(new Client(['timeout' => 30, 'allow_redirects' => false]), $configuration);
    try {
        [$data, $status, $headers] = send($api, $call);
        $result = ['status' => $status, 'data' => $data, 'link' => array_change_key_case($headers)['link'][0] ?? null];
    } catch (ApiException $exception) {
        $result = ['status' => $exception->getCode(), 'error' => json_decode($exception->getResponseBody() ?? '')];
    }
    echo json_encode($result), "\n";
}
