/** What access rules consist of and compare: `all` contains rules, and lookups compare fields of two records. */
import type { AccessRule, Condition, LookupRule } from './declaration.ts'
import { isObject } from './plain-copy.ts'

/** Rules without `all`: in its place the rules that it contains, however deep. */
export function simpleRules(rules: readonly AccessRule[]): Exclude<AccessRule, { readonly all: unknown }>[] {
  return rules.flatMap((rule) => (typeof rule === 'object' && 'all' in rule ? simpleRules(rule.all) : [rule]))
}

/** Whether a live record of another collection decides. */
export function isLookup(rule: AccessRule): rule is LookupRule {
  return typeof rule === 'object' && ('some' in rule || 'none' in rule)
}

/** The collection in which a rule looks for a record. */
export function lookupCollection(rule: LookupRule): string {
  return 'some' in rule ? rule.some : rule.none
}

/** The reference that a rule follows, and the fields with which its lookups compare other records. */
export function leadingFields(rule: AccessRule): string[] {
  if (typeof rule !== 'object') return []
  return simpleRules([rule]).flatMap((each) => {
    if (isLookup(each)) return recordFields(each.where)
    return typeof each === 'object' && 'through' in each ? [each.through] : []
  })
}

/** The fields of the record itself that a declarative rule compares. */
export function ruleFields(rule: AccessRule): string[] {
  return simpleRules([rule]).flatMap((each) =>
    typeof each === 'object' && 'where' in each && !isLookup(each) ? conditionFields(each.where) : leadingFields(each),
  )
}

/** The fields of a collection by which the lookups of some rules find its records. */
export function lookedUpFields(rules: readonly AccessRule[], collection: string): string[] {
  const lookups = simpleRules(rules).filter(isLookup)
  return lookups.flatMap((each) => (lookupCollection(each) === collection ? conditionFields(each.where) : []))
}

/** The comparisons of a declared condition, each with its field. */
function comparisonsIn(condition: Condition): [field: string, compared: Condition[string]][] {
  return Object.entries(condition).flatMap(([word, value]) => {
    if (word === 'and' || word === 'or') return (value as readonly Condition[]).flatMap(comparisonsIn)
    return word === 'not' ? comparisonsIn(value as Condition) : [[word, value]]
  })
}

/** The fields that a declared condition compares. */
export function conditionFields(condition: Condition): string[] {
  return comparisonsIn(condition).map(([field]) => field)
}

/** The fields of the record that a lookup is about, with which its condition compares: `{ record: FIELD }`. */
function recordFields(condition: Condition): string[] {
  return comparisonsIn(condition).flatMap(([, value]) => {
    if (!isObject(value)) return []
    const operands = 'record' in value || 'caller' in value ? [value] : Object.values(value).flat()
    return operands.flatMap((each) => (isObject(each) && typeof each['record'] === 'string' ? [each['record']] : []))
  })
}
