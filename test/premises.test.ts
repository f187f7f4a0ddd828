import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

// Some sentences in documents and code are true only as long as a fact about the API is true. When you write such a
// sentence, add a line with its file and the phrase that depends on the fact. Write line breaks as spaces.

interface Contract {
  /** Method and path of each operation, such as 'GET /pets/{petId}'. */
  requests: string[];
  /** Statuses of all responses. */
  statuses: string[];
}

interface Premise {
  /** What is true, from a client's point of view. */
  fact: string;
  holds: (contract: Contract) => boolean;
  phrases: [file: string, phrase: string][];
}

const READS_OR_ADDS = /^(?:GET |POST [^{]*$)/;
const CHANGES_ITEMS = /^(?:PUT|PATCH) |^POST .*\{/;
const DELETES_ITEMS = /^DELETE /;

const premises: Premise[] = [
  {
    fact: 'clients can only read and add items',
    holds: ({ requests }) => requests.every((request) => READS_OR_ADDS.test(request)),
    phrases: [
      ['README.md', 'A REST API for listing, adding and fetching'],
      ['docs/architecture.md', 'The diagram shows the operations of pets'],
      ['docs/runbook.md', 'A key can only read and add items'],
      ['docs/security.md', 'can only read and add items'],
      ['shared/names.ts', 'An API to list, add and fetch'],
    ],
  },
  {
    fact: 'items never change',
    holds: ({ requests }) => !requests.some((request) => CHANGES_ITEMS.test(request)),
    phrases: [
      ['docs/interface.md', 'a pet that is created without a `status` has no `status` in responses'],
      ['docs/interface.md', 'same `Location` and body'],
      ['docs/runbook.md', 'The script assumes that no operation changes pets'],
    ],
  },
  {
    fact: 'items are never deleted',
    holds: ({ requests }) => !requests.some((request) => DELETES_ITEMS.test(request)),
    phrases: [
      ['README.md', 'a create that is retried within 24 hours stores only one pet'],
      ['docs/architecture.md', 'Otherwise, the function generates a new id'],
      ['docs/decisions.md', 'A retry always returns the same pet'],
      ['docs/interface.md', 'the service creates only one pet'],
      ['docs/security.md', 'until an operator deletes them'],
      ['docs/security.md', 'No operation deletes data'],
      ['shared/storage/collection.ts', 'Items are never deleted'],
    ],
  },
  {
    fact: 'items neither change nor disappear',
    holds: ({ requests }) =>
      !requests.some((request) => CHANGES_ITEMS.test(request) || DELETES_ITEMS.test(request)),
    phrases: [
      ['README.md', 'pages never repeat a pet, and never skip a pet'],
      ['docs/interface.md', 'updating, deleting, counting, searching or sorting pets'],
      ['docs/interface.md', 'a pet never changes, so your copies stay valid'],
      ['docs/interface.md', 'pages never repeat a pet and never skip a pet'],
      ['docs/interface.md', 'pets are never changed or removed'],
      ['docs/multi-region.md', 'Make these decisions before adding regions'],
      ['docs/reliability.md', 'retries with a rotated API key, get the same response'],
      ['docs/reliability.md', 'Pages never repeat a pet and never skip a pet'],
      ['docs/runbook.md', 'No operation changes or deletes pets'],
      ['docs/security.md', 'Every key can read, but not change or delete, all pets'],
      ['shared/contract/collection.ts', 'Pages contain no'],
      ['shared/contract/collection.ts', 'all retries return the same'],
    ],
  },
  {
    fact: 'a request creates at most one item',
    holds: ({ requests }) => {
      // Creating several items needs another POST below the collection's path, such as POST /pets/batch.
      const posts = requests.flatMap((request) => /^POST \/([^/{]+)[^{]*$/.exec(request)?.[1] ?? []);
      return new Set(posts).size === posts.length;
    },
    phrases: [['docs/interface.md', 'creating several pets with one request']],
  },
  {
    fact: 'no client gets a 409',
    holds: ({ statuses }) => !statuses.includes('409'),
    phrases: [['docs/architecture.md', 'no client gets a 409']],
  },
];

describe.each(premises)('the fact that $fact', ({ fact, holds, phrases }) => {
  test('agrees with openapi.json', () => {
    const sentences = phrases.map(([file, phrase]) => `${file}:${lineOf(file, phrase) ?? '?'} "${phrase}"`);
    const advice =
      `openapi.json contradicts the fact that ${fact}. Reread these sentences, correct those that are false, and ` +
      'correct or remove the fact in test/premises.test.ts:';
    expect(holds(publishedContract()) ? [] : [advice, ...sentences]).toEqual([]);
  });

  test('is a premise only of sentences that exist', () => {
    const missing = phrases.filter(([file, phrase]) => lineOf(file, phrase) === undefined);
    const messages = missing.map(
      ([file, phrase]) =>
        `${file} no longer contains "${phrase}". Update this entry in test/premises.test.ts, or remove it.`,
    );
    expect(messages).toEqual([]);
  });
});

function publishedContract(): Contract {
  const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8'));
  const operations = Object.entries<object>(paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, { responses }]) => ({
      request: `${method.toUpperCase()} ${path}`,
      responses,
    })),
  );
  return {
    requests: operations.map(({ request }) => request),
    statuses: operations.flatMap(({ responses }) => Object.keys(responses)),
  };
}

/** Returns the number of the line on which a phrase starts, or undefined if the file does not contain the phrase. */
function lineOf(file: string, phrase: string): number | undefined {
  const text = readFileSync(file, 'utf8');
  // In code, a phrase can continue in the next line of a comment.
  const words = phrase.split(' ').map((word) => RegExp.escape(word));
  const start = text.search(new RegExp(words.join(String.raw`\s+(?:(?://|\*) )?`)));
  return start < 0 ? undefined : text.slice(0, start).split('\n').length;
}
