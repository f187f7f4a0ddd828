import * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { contract } from '../support/contract.ts';
import type { HttpReply, OutgoingRequest } from '../support/http.ts';
import { WAIT_LIMIT_MILLISECONDS } from '../support/limits.ts';
import { check, newState, type Request } from './checks.ts';
import { filters } from './documented.ts';
import { otherHeaders, type Pairs } from './headers.ts';
import type { Generated } from './json.ts';
import { anyCase, rejected } from './requests.ts';
import { checkResponse } from './responses.ts';

/** Service that the fuzzer tests. */
export interface Target {
  name: string;
  apiKey: string;
  send: (request: OutgoingRequest) => Promise<HttpReply>;
  /** Returns the end of the service's output for error messages. */
  printed: () => string;
  close: () => Promise<unknown>;
}

/** Variations of a request that must not change the response. */
const anyStyle = fc.record({
  others: otherHeaders,
  toCase: fc.constantFrom('toString', 'toLowerCase', 'toUpperCase'),
  encode: fc.constantFrom<((text: string) => string)[]>(
    encodeURIComponent,
    (text) => encodeURIComponent(text).replaceAll('%20', '+'),
    (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
  ),
});
const { contradictions, nameOf } = contract();

/**
 * Tests generated cases and closes the target.
 *
 * @returns the number of responses for each kind of request and status
 * @throws Error with the seed and the smallest failing case if a case fails
 */
export async function fuzz(
  target: Target,
  { seed, cases }: { seed: number; cases: number },
): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  try {
    for (const { property, share } of propertiesOf(target, outcomes)) {
      const numRuns = Math.ceil(cases * share);
      // The timeout ensures that the error contains the seed even if a request gets no response.
      const options = { seed, numRuns, timeout: WAIT_LIMIT_MILLISECONDS, includeErrorInReport: true };
      const details = await fc.check(property, options);
      if (!details.failed) continue;
      const report = fc.defaultReportMessage(details);
      throw new Error(`${target.name}, seed ${seed}: ${report}\n${target.printed()}`);
    }
  } finally {
    await target.close();
  }
  return outcomes;
}

function propertiesOf({ apiKey, send }: Target, outcomes: Record<string, number>) {
  const state = newState();

  function checked(outcome: string, response: HttpReply, method = 'any'): void {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    checkResponse(response, method);
  }

  const sendAs = ({ others, toCase, encode }: Generated<typeof anyStyle>) =>
    async function sendRequest({ method, path, query, headers, body }: Request): Promise<HttpReply> {
      const pairs = query.map((pair) => pair.map((text) => encode(text.toWellFormed())).join('='));
      const target = pairs.length > 0 ? `${path}?${pairs.join('&')}` : path;
      const fields: Pairs = [['Authorization', `Bearer ${apiKey}`], ...others, ...headers];
      const sent = fields.map(([name, value]): Pairs[0] => [name[toCase](), value]);
      const response = await send({ method, target, headers: sent, body });
      const named = Object.fromEntries(headers);
      // A cursor can be from a different list, and filters can be an unsupported combination.
      const mayBeRejected = query.some(
        ([name]) => name === 'cursor' || filters.some((one) => one.name === name),
      );
      const shortTarget = target.slice('/v1'.length);
      const exchange = { method, target: shortTarget, headers: named, body, mayBeRejected, response };
      checked(nameOf(exchange), response);
      // Requests that repeat a header are not compared with openapi.json, because OpenAPI cannot describe them.
      if (Object.keys(named).length === headers.length) assert.deepEqual(contradictions(exchange), []);
      return response;
    };

  const ofCases: fc.IAsyncProperty<any> = fc.asyncProperty(anyCase, anyStyle, (testCase, style) =>
    check(testCase, sendAs(style), state),
  );
  const ofRejected = fc.asyncProperty(rejected, async ({ expected, authorization, ...request }) => {
    const headers: Pairs = [['Authorization', authorization.replaceAll('{key}', apiKey)]];
    const response = await send({ ...request, headers });
    checked(`rejected ${response.status}`, response, request.method);
    assert.equal(response.status, expected, response.text);
  });
  return [
    { property: ofCases, share: 0.8 },
    { property: ofRejected, share: 0.2 },
  ];
}
