/** As little as a function can do. */
export async function handler(): Promise<object> {
  return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: '{"hello":"world"}' };
}
