/** The public names of the package. */

export type { Static } from 'typebox'
export type { Client } from './client/client.ts'
export type {
  Collection,
  CreateOptions,
  DeleteOptions,
  Deletion,
  Page,
  Pagination,
  Query,
  UntypedCollection,
  UntypedInterface,
} from './client/collection.ts'
export type { ChangeOptions, Conflict, OnConflict } from './client/conflicts.ts'
export { etagOf } from './client/exchange.ts'
export type { CollectionTypes, InterfaceTypes, JsonObject, TypesOf } from './client/interface-types.ts'
export { Job } from './client/jobs.ts'
export { type ProblemEntry, ProblemError } from './client/problem-error.ts'
export type { CallOptions } from './client/send.ts'
export { DeclarationError, type Problem } from './model/check/problem.ts'
export type {
  AccessRule,
  Action,
  BusinessRule,
  Condition,
  ConditionValue,
  DeletionDeclaration,
  FieldAccessDeclaration,
  FieldCondition,
  FieldDeclaration,
  InterfaceDeclaration,
  OnDelete,
  RateDeclaration,
  ResourceDeclaration,
  RuleContext,
  RuleObjection,
  RuleTrigger,
  VersionDeclaration,
} from './model/declaration.ts'
export type {
  AuthorizationRefusal,
  AuthorizationRequest,
  CallerView,
  EventContext,
  EventFunction,
  PrepareContext,
} from './model/declared-functions.ts'
export { type DefinedInterface, defineInterface, type Infer } from './model/inference/define-interface.ts'
export * as Type from './model/type.ts'
export { reference } from './model/type.ts'
export {
  type AuthenticateOption,
  type AuthenticationRequest,
  type CallerInput,
  Unauthenticated,
} from './policy/own-credentials.ts'
export { type App, type AppOptions, createApp } from './server/create-app.ts'
export {
  type BunServer,
  bunAddress,
  type DenoInfo,
  denoAddress,
  forwardedAddress,
  type HonoContext,
  honoAddress,
} from './server/fetch/addresses.ts'
export { type FetchHandlerOptions, toFetchHandler } from './server/fetch/fetch.ts'
export { type NodeHandlerOptions, toNodeHandler } from './server/node/listener.ts'
export type { LogEntry, LogOption } from './server/observe/app-log.ts'
export type { Logger } from './server/observe/log.ts'
export { collectMetrics, type Metrics } from './server/observe/metrics.ts'
export type { Observation, Observe } from './server/observe/observe.ts'
export { ConfigurationError } from './spec/configuration-error.ts'
export { MigrationRefused, type MigrationStep } from './storage/migration/migration-step.ts'
