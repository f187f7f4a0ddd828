import { existsSync } from 'node:fs';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import type { Contract, Exchange } from './contract.ts';
import type { Request } from './faulty-service.ts';
import { moduleOf } from './invoke.ts';
import { get } from './sample.ts';

type Send = (request: Request) => Promise<Exchange>;

/** Sends requests that get the same documented response, and returns the exchanges. */
export type Call = (send: Send, contract: Contract) => Promise<Exchange | Exchange[]>;

/** Unique texts for the parts of requests, such as a header. Tests search logs for these texts. */
export type Secrets = Record<
  'name' | 'categoryId' | 'unknownField' | 'header' | 'idempotencyKey' | 'query' | 'key' | 'otherKey',
  string
>;

/** A request and the expected status of its response. The default of each path parameter is the id of a stored pet. */
export interface MarkedRequest {
  status: number;
  pathParameters?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string;
}

/** Data about an operation that tests need in addition to the contract. */
export interface OperationTests {
  /** The function's permissions, such as `dynamodb:GetItem on ${StoragePets.Arn}`. Omits those for logs and traces. */
  permissions: string;
  /**
   * Calls by status: one for the success response and one for each error in the operation's contract. The body of
   * each call's first response must equal the documented example. The file responses.test.ts lists the calls
   * for the responses of API Gateway.
   */
  responses: Record<number, Call>;
  /** Returns requests that contain the given values. At least one of the requests must be successful. */
  markedRequests: (secrets: Secrets) => MarkedRequest[];
}

export const operationIds = Object.keys(operations) as OperationId[];

/** Returns the path of the file that contains an operation's tests. */
export const fileOf = (id: string): string => `test/operations/${moduleOf(id)}.ts`;

const files = {} as Record<OperationId, Partial<OperationTests>>;
for (const id of operationIds)
  files[id] = existsSync(fileOf(id)) ? (await import(`../../${fileOf(id)}`)).tests : {};

/** Returns an error message that lists what an operation's file lacks, or undefined if the file is complete. */
export function incomplete(id: OperationId): string | undefined {
  const members: (keyof OperationTests)[] = ['permissions', 'responses', 'markedRequests'];
  const missing = members.filter((member) => !(member in files[id]));
  if (missing.length === 0) return undefined;
  return `${id}: Add ${missing.join(', ')} to ${fileOf(id)}, as in ${fileOf(get.id)}.`;
}

/** Ids of operations that other tests omit, because operations.test.ts already fails for their incomplete files. */
export const omittedIds = new Set<string>(operationIds.filter(incomplete));

/** The tests in all complete files, by operation id. */
export const operationTests = new Map(
  operationIds.filter((id) => !omittedIds.has(id)).map((id) => [id, files[id] as OperationTests]),
);
