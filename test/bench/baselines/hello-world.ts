/** Returns a constant. The function's measurements show the time that Node.js and the runtime need. */
export async function handler(): Promise<object> {
  return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: '{"hello":"world"}' };
}
