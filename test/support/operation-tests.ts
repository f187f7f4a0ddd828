import type { Contract, Exchange } from './contract.ts';
import type { Request } from './faulty-service.ts';

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

/** Actions that an IAM policy allows on resources, such as `dynamodb:GetItem` on `${StoragePets.Arn}`. */
export interface Permissions {
  actions: string[];
  resources: string[];
}

/** Data about an operation that tests need in addition to the contract. */
export interface OperationTests {
  /** The function's permissions, except those for logs and traces. */
  permissions: Permissions;
  /**
   * Calls by status: one for the success response and one for each error in the operation's contract. The body of
   * each call's first response must equal the documented example. The file responses.test.ts lists the calls
   * for the responses of API Gateway.
   */
  responses: Record<number, Call>;
  /** Returns requests that contain the given values. At least one of the requests must be successful. */
  markedRequests: (secrets: Secrets) => MarkedRequest[];
}
