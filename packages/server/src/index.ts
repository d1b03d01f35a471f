/** The public names of the package. */

export {
  type CallOptions,
  type ChangeOptions,
  type Client,
  type Collection,
  type CollectionTypes,
  type Conflict,
  type CreateOptions,
  type DeleteOptions,
  type Deletion,
  etagOf,
  type InterfaceTypes,
  Job,
  type JsonObject,
  type OnConflict,
  type Page,
  type Pagination,
  type ProblemEntry,
  ProblemError,
  type Query,
  type TypesOf,
  type UntypedCollection,
  type UntypedInterface,
} from 'resourced-client'
export { DeclarationError, type Problem } from 'resourced-contract/model/check/problem'
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
  ResourceDeclaration,
  RuleContext,
  RuleObjection,
  RuleTrigger,
  VersionDeclaration,
} from 'resourced-contract/model/declaration'
export type {
  AuthorizationRefusal,
  AuthorizationRequest,
  CallerView,
  EventContext,
  EventFunction,
  PrepareContext,
} from 'resourced-contract/model/declared-functions'
export { type DefinedInterface, defineInterface, type Infer } from 'resourced-contract/model/inference/define-interface'
export type { RateDeclaration } from 'resourced-contract/model/limits'
export * as Type from 'resourced-contract/model/type'
export { reference } from 'resourced-contract/model/type'
export { ConfigurationError } from 'resourced-contract/spec/configuration-error'
export type { Static } from 'typebox'
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
export { MigrationRefused, type MigrationStep } from './storage/migration/migration-step.ts'
