/** Returns a constant. Its measurements show the time that Node and the runtime take. */
export async function handler(): Promise<object> {
  return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: '{"hello":"world"}' };
}
