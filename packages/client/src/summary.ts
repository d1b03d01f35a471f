/** Summaries of a collection: their query and their rows, typed by the groups and figures that are asked for. */
import { readQuery } from './exchange.ts'
import type { CollectionTypes, Page, PageParameters, SummaryTypes, UntypedInterface } from './interface-types.ts'
import type { RelatedFilters, Where } from './relation-types.ts'
import type { CallOptions, Send } from './send.ts'

/** The groups and figures of a collection whose types are unknown. */
interface UntypedSummary extends SummaryTypes {
  readonly group: Readonly<Record<string, string | boolean | null>>
  readonly min: Readonly<Record<string, string | number | boolean>>
}

/** The groups and figures of a collection. */
export type SummaryOf<Types extends CollectionTypes> = Types extends {
  readonly summary: infer Summary extends SummaryTypes
}
  ? Summary
  : UntypedSummary

type OneOrMore<Name> = Name | readonly Name[]

/** The names of groups and figures in a request. */
export interface SummaryNames {
  readonly group: string
  readonly sum: string
  readonly avg: string
  readonly min: string
  readonly max: string
}

/** The query parameters of a summary: filters, groups, figures, order and page. */
export type SummaryQuery<
  Types extends CollectionTypes,
  Names extends SummaryNames,
  All = UntypedInterface,
> = Types['filter'] &
  RelatedFilters<Types, All> &
  PageParameters & {
    /** A condition, which is combined with the filters by `and`. */
    readonly where?: Where<Types, All>
    /** What to group the records by: at most three. */
    readonly group?: OneOrMore<Names['group']>
    readonly sum?: OneOrMore<Names['sum']>
    readonly avg?: OneOrMore<Names['avg']>
    readonly min?: OneOrMore<Names['min']>
    readonly max?: OneOrMore<Names['max']>
    /** `count`, groups and figures of the request, such as `-sum.price`. */
    readonly sort?: OneOrMore<string>
  }

/** One group: its values, the number of its records, and the figures that were asked for. */
export type SummaryRow<Summary extends SummaryTypes, Names extends SummaryNames> = {
  readonly group: Pick<Summary['group'], Names['group'] & keyof Summary['group']>
  readonly count: number
} & {
  /** Exact decimals; `null` where no record has a value. */
  readonly [Kind in 'sum' | 'avg' as [Names[Kind]] extends [never] ? never : Kind]: {
    readonly [Name in Names[Kind]]: string | null
  }
} & {
  readonly [Kind in 'min' | 'max' as [Names[Kind]] extends [never] ? never : Kind]: {
    readonly [Name in Names[Kind] & keyof Summary['min']]: Summary['min'][Name] | null
  }
}

/** A call that reads a summary. */
export type ReadSummary<Types extends CollectionTypes, All = UntypedInterface> = <
  Group extends keyof SummaryOf<Types>['group'] & string = never,
  Sum extends SummaryOf<Types>['sum'] = never,
  Avg extends SummaryOf<Types>['sum'] = never,
  Min extends keyof SummaryOf<Types>['min'] & string = never,
  Max extends keyof SummaryOf<Types>['min'] & string = never,
>(
  query?: SummaryQuery<Types, { group: Group; sum: Sum; avg: Avg; min: Min; max: Max }, All>,
  options?: CallOptions,
) => Promise<Page<SummaryRow<SummaryOf<Types>, { group: Group; sum: Sum; avg: Avg; min: Min; max: Max }>>>

/** The parameters that list names: one text each, because a repeated one is refused. */
const lists: ReadonlySet<string> = new Set(['group', 'sum', 'avg', 'min', 'max'])

/** Reads the summary of the collection at a path. */
export async function readSummary(send: Send, collection: string, query: object = {}, options?: CallOptions) {
  const joined = Object.entries(query).map(([name, value]) => [
    name,
    lists.has(name) && Array.isArray(value) ? value.join() : value,
  ])
  return (await readQuery(send, `${collection}/summary`, Object.fromEntries(joined), options)).body as never
}
