import { expect, test } from '@jest/globals';
import { pets } from '../collections/pets.ts';
import { publicBaseUrl, request } from '../support/client.ts';
import { addItem } from '../support/items.ts';

test('GET /pets/{petId} announces its removal and links to the list of pets', async () => {
  const { id } = await addItem(pets);
  for (const petId of [id, '1']) {
    const { headers } = await request(`/pets/${petId}`);
    expect(headers.get('Deprecation')).toBe('@1795219200');
    expect(headers.get('Sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
    expect(headers.get('Link')).toBe(`<${publicBaseUrl}/pets>; rel="successor-version"`);
  }
});
