import { randomUUID } from 'node:crypto';
import { PetStatus } from '../../shared/contract/schemas.ts';

/** What is used of https://github.com/mcollina/autocannon#requests. */
interface Request {
  method?: 'POST';
  path?: string;
  headers?: Record<string, string>;
  body?: string;
  setupRequest?: (request: Request) => Request;
  onResponse?: (status: number, body: string, context: object, headers?: Record<string, unknown>) => void;
}

interface Client {
  setRequests: (requests: Request[]) => void;
}

/**
 * What every connection asks for, around and around: half of it lists, a quarter creates, every second of them with an
 * `Idempotency-Key` of its own, and a quarter the pet that the same connection has just created.
 */
const ROUND = [
  'listPets',
  'listPets, next page',
  'createPet',
  'getPet',
  'listPets, one status',
  'listPets, next page',
  'createPet, Idempotency-Key',
  'getPet',
] as const;

export type Kind = (typeof ROUND)[number];
export const kinds = [...new Set(ROUND)].toSorted();

export interface Outcomes {
  /** Takes each answer, with how long its client waited for it. */
  answered: (kind: Kind, milliseconds: number, status: number) => void;
  /** Takes each request whose connection ended, or whose time was up, before its whole answer had come. */
  unanswered: (kind: Kind) => void;
}

/**
 * Gives each of autocannon's connections its own round to make.
 *
 * A client waits from the moment its request is ready, which for the first one is before it connects, until the last
 * byte of the answer. It sends the next request then, as long as that takes: a slow service is asked less often.
 *
 * @param basePath path of the base address, `/v1`.
 */
export function setUpClients(basePath: string, outcomes: Outcomes): (client: Client) => void {
  let clients = 0;
  return (client) => {
    clients += 1;
    client.setRequests([roundOf(basePath, outcomes, clients)]);
  };
}

/** @param first where in the round to begin, so that not all connections ask for the same at a time. */
function roundOf(basePath: string, { answered, unanswered }: Outcomes, first: number): Request {
  let step = first;
  let underWay: { kind: Kind; start: number } | undefined;
  let nextPage: string | undefined;
  let pet: string | undefined;

  function nextRequest(): Pick<Request, 'method' | 'path' | 'headers' | 'body'> & { kind: Kind } {
    const kind = ROUND[step % ROUND.length]!;
    step += 1;
    if (kind === 'getPet' && pet) return { kind, path: pet };
    if (kind === 'listPets, next page' && nextPage) return { kind, path: nextPage };
    if (kind === 'listPets, one status') {
      return { kind, path: `${basePath}/pets?status=${PetStatus.options[step % PetStatus.options.length]}` };
    }
    if (kind === 'createPet, Idempotency-Key')
      return { kind, ...createPet({ 'Idempotency-Key': randomUUID() }) };
    if (kind === 'createPet' || kind === 'getPet') return { kind: 'createPet', ...createPet() };
    return { kind: 'listPets', path: `${basePath}/pets` };
  }

  function createPet(
    headers: Record<string, string> = {},
  ): Pick<Request, 'method' | 'path' | 'headers' | 'body'> {
    const body = {
      name: `Rex ${step}`,
      categoryId: step % 10,
      status: PetStatus.options[step % PetStatus.options.length],
    };
    return {
      method: 'POST',
      path: `${basePath}/pets`,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
  }

  return {
    setupRequest(request) {
      // autocannon goes on with the next request when a connection ended, which it does not count.
      if (underWay) unanswered(underWay.kind);
      const { kind, headers, ...rest } = nextRequest();
      underWay = { kind, start: performance.now() };
      return { ...request, ...rest, headers: { ...request.headers, ...headers } };
    },
    onResponse(status, _body, _context, headers = {}) {
      if (!underWay) return;
      const { kind, start } = underWay;
      underWay = undefined;
      answered(kind, performance.now() - start, status);
      const { link, location } = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
      );
      if (kind.startsWith('listPets')) nextPage = pathOf(/<([^>]*)>; rel="next"/.exec(link ?? '')?.[1]);
      if (kind.startsWith('createPet')) pet = pathOf(location);
    },
  };
}

function pathOf(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const { pathname, search } = new URL(address);
  return pathname + search;
}
