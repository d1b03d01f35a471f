/** The public names of `resourced/client`. */

export type { CallerInformation, Client, Jobs, SystemCalls } from './client.ts'
export type {
  Collection,
  CreateOptions,
  DeleteOptions,
  Deletion,
  GetOptions,
  ListParameters,
  ListQuery,
  NestedCollection,
  Revision,
  RevisionQuery,
  Selected,
  Target,
  UpsertOptions,
} from './collection.ts'
export type { ChangeOptions, ConditionOptions, Conflict, OnConflict } from './conflicts.ts'
export { type ClientOptions, createClient, type Key } from './create-client.ts'
export type { ChangeEvent, Events, FollowOptions } from './events.ts'
export { etagOf } from './exchange.ts'
export type { FetchOptions } from './fetch-send.ts'
export type {
  CollectionTypes,
  InterfaceTypes,
  JsonObject,
  Page,
  Pagination,
  Query,
  Relations,
  SummaryTypes,
  TypesOf,
  UntypedCollection,
  UntypedInterface,
} from './interface-types.ts'
export { type ExportRequest, type Exports, type FinishedOptions, Job } from './jobs.ts'
export { type ProblemCode, type ProblemEntry, ProblemError } from './problem-error.ts'
export type { Include, IncludePath, Including, RelatedList, Where } from './relation-types.ts'
export type { RetryOptions } from './retrying.ts'
export type { CallOptions } from './send.ts'
export type { ReadSummary, SummaryQuery, SummaryRow } from './summary.ts'
export type { Later, Made, Reference, Referring, Transaction, TransactionCollection } from './transaction.ts'
export type { Deliveries, Delivery, Webhook, WebhookSettings, Webhooks } from './webhooks.ts'
