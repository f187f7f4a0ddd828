import { keyPrefix } from '../../../shared/contract/authorization.ts';
import { errorCatalogue } from '../../../shared/contract/errors.ts';
import { IDEMPOTENCY_HOURS } from '../../../shared/contract/limits.ts';
import { markdownTable } from '../../operate/markdown-table.ts';

/** The description of the API, in Markdown (CommonMark). */
export const introduction = `\
Animals offered in a store: list them, add one, fetch one. Bodies are JSON (RFC 8259) in UTF-8.

## Keys

Every request carries an API key: \`Authorization: Bearer <API_KEY>\`. The operator of the service hands it out, for one stage: a key starts
with \`${keyPrefix('production')}\` or \`${keyPrefix('staging')}\`. Treat it as a password. A 401 is final and says the same whatever is wrong with the key.

## Exact integers

\`id\` and \`categoryId\` are 64-bit integers (int64), kept and answered digit by digit. Every \`id\` that the service assigns is at most 2^53−1, so that
every JSON parser reads it exactly. A \`categoryId\` may be beyond that: read it with a parser that keeps digits, or it is rounded in your program.

## Creating exactly once

An answer can get lost, and then nobody can tell from outside whether the pet was added. Send each create with an \`Idempotency-Key\` of its own, a
random UUID for example, and repeat it with the same key and body after a 429, a 5xx, a time-out or a lost connection: for ${IDEMPOTENCY_HOURS} hours one key is one pet,
and every repetition gets the same 201. Wait as long as \`Retry-After\` says, else for growing pauses of random length. Reads may always be repeated.

## Pages

A list has at most \`limit\` pets. While there are more, the answer has a header \`Link: <address>; rel="next"\` (RFC 8288): follow that address as it is, until an
answer has none. Pages never repeat a pet, and skip none that was in lists when the walk began.

## Refusals

Every answer that is not a success has the same body, \`Error\`, whoever writes it:

${errorTable()}`;

/** Each error with its status and when clients get it. */
export function errorTable(): string {
  const rows = Object.entries(errorCatalogue).map(([code, { status, description }]) => [
    `\`${code}\``,
    status.toString(),
    description,
  ]);
  return markdownTable(['`code`', 'status', 'when'], rows, '---');
}
