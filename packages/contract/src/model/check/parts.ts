/**
 * A declaration as the checks read it: its parts, with the checks that most of them need, and what is known of its
 * resources.
 */
import type { issueCodes } from '../../spec/faults.ts'
import { oneOf } from '../../spec/words.ts'
import type { FieldDeclaration } from '../declaration.ts'
import { completeField, type FieldShape, type Schema, shapeOf } from '../field.ts'
import { callerForm } from '../names.ts'
import { nearest, suggest } from '../nearest.ts'
import { below, type Steps } from '../place.ts'
import { isObject } from '../plain-copy.ts'
import { type Field, membersOf, type Resource } from '../resource.ts'

/** A mistake that a check found. */
export interface Finding {
  /** The steps to its place. */
  readonly steps: Steps
  /** For responses: conditions come from clients and from functions too. */
  readonly code: keyof typeof issueCodes
  /** What is wrong; continues the place. */
  readonly message: string
  /** What to write instead, a sentence. */
  readonly remedy: string
  /** The key is wrong, and not its value. */
  readonly isKey?: boolean
}

type Hints = Readonly<Record<string, string>>

/**
 * A value in a declaration, with its place. Its checks report what is wrong; all but `object` accept an absent value.
 */
export class Part {
  /** The steps to its place. */
  readonly steps: Steps
  readonly value: unknown
  /** The mistakes found so far, in this value and in all others of the same whole. */
  readonly findings: Finding[]

  constructor(value: unknown, findings: Finding[] = [], steps: Steps = []) {
    this.value = value
    this.findings = findings
    this.steps = steps
  }

  get isAbsent(): boolean {
    return this.value === undefined
  }

  /** The place in the declaration: `resources.tasks.rules[0].code`. */
  get path(): string {
    return below('', this.steps)
  }

  /** The value if it is an object, otherwise an empty object. */
  get record(): Readonly<Record<string, unknown>> {
    return isObject(this.value) ? this.value : {}
  }

  /** The value if it is a text, otherwise an empty text. */
  get text(): string {
    return typeof this.value === 'string' ? this.value : ''
  }

  /** The part at a key. */
  key(name: string): Part {
    return new Part(own(this.record, name), this.findings, [...this.steps, name])
  }

  /** The parts at all keys, with their names. */
  entries(): [string, Part][] {
    return Object.keys(this.record).map((name) => [name, this.key(name)])
  }

  /** The items of an array. */
  items(): Part[] {
    const { value } = this
    return Array.isArray(value) ? value.map((each, index) => new Part(each, this.findings, [...this.steps, index])) : []
  }

  /** Another value at the same place. */
  as(value: unknown, findings = this.findings): Part {
    return new Part(value, findings, this.steps)
  }

  report(message: string, remedy: string, code: Finding['code'] = 'INVALID_VALUE'): void {
    this.findings.push({ steps: this.steps, code, message, remedy })
  }

  /** Reports the key, whatever its value. */
  reportKey(message: string, remedy: string, code: Finding['code'] = 'INVALID_VALUE'): void {
    this.findings.push({ steps: this.steps, code, message, remedy, isKey: true })
  }

  /** Reports that the value is missing, or is not what it must be. */
  mustBe(what: string, remedy: string, code: Finding['code'] = 'INVALID_TYPE'): void {
    const message = this.isAbsent ? `is missing: it must be ${what}` : `must be ${what}, and is ${show(this.value)}`
    this.report(message, remedy, code)
  }

  /** Reports the value with the nearest of the names that exist. */
  unknown(message: string, candidates: Iterable<string>, otherwise?: string): void {
    this.report(message, suggest(this.text, candidates, otherwise))
  }

  /** Reports a value that is not an object, or is absent; otherwise `true`. */
  object(example: string): boolean {
    if (isObject(this.value)) return true
    this.mustBe('an object', `Write ${example}.`)
    return false
  }

  /** Reports every unknown key. */
  keys(known: readonly string[]): void {
    for (const key of Object.keys(this.record)) {
      if (!known.includes(key)) this.key(key).reportKey('is not a known key', suggest(key, known))
    }
  }

  /** Reports a value that is not one of the choices. */
  choice(choices: readonly string[], hints: Hints = {}): void {
    const { value } = this
    if (value === undefined || (typeof value === 'string' && choices.includes(value))) return
    const hint = typeof value === 'string' ? (hints[value] ?? nearest(value, choices)) : undefined
    const quoted = choices.map((choice) => `"${choice}"`)
    this.mustBe(oneOf(quoted), hint === undefined ? `Write ${oneOf(quoted)}.` : `Did you mean "${hint}"?`)
  }

  /** Reports a value that is neither `true` nor `false`. */
  flag(): void {
    if (this.isAbsent || typeof this.value === 'boolean') return
    const meant = /^(?:yes|on)$/i.test(this.text) ? 'true' : /^(?:no|off)$/i.test(this.text) ? 'false' : undefined
    const remedy =
      meant === undefined
        ? 'Write true or false, without quotes.'
        : `Write ${meant}: only true or false are booleans, in YAML too.`
    this.mustBe('true or false', remedy)
  }

  /** Reports a value that is not a text, or is blank. */
  prose(): void {
    if (this.isAbsent || this.text.trim() !== '') return
    this.mustBe('a text', 'Write a few words for people, or leave it out.')
  }

  /** Reports a value that is not a text of one line. */
  title(): void {
    if (/[\r\n]/.test(this.text)) {
      this.report('must be one line', 'Keep the title short and write the rest as `description`.')
    } else this.prose()
  }

  /** Reports a value that is not a whole number from `least` to `most`. */
  whole(least: number, most: number): void {
    const { value } = this
    if (value === undefined || (Number.isInteger(value) && Number(value) >= least && Number(value) <= most)) return
    this.mustBe(`a whole number from ${least} to ${most}`, `Write a number such as ${least}.`)
  }

  /** Reports a value that names nothing that a caller has. */
  callers(): void {
    if (callerForm.test(this.text)) return
    this.report(`is nothing that a caller has: ${show(this.value)}`, 'Write "id", "roles" or "claims.NAME".')
  }

  /** Reports a function that awaits: its result is needed at once. */
  synchronous(): void {
    if (Object.prototype.toString.call(this.value) === '[object AsyncFunction]') {
      this.report('must not await: its answer is needed at once', 'Write a function without async.')
    }
  }
}

/** A value for a message: shortened; texts are quoted. */
export function show(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'number') return String(value)
  const text = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' || typeof each === 'symbol' || typeof each === 'function' ? String(each) : each,
  )
  if (text === undefined) return 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** A key's own value: inherited properties (`constructor`) are not declared. */
export function own(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

/** A field, complete as far as it can be read. */
export interface FieldView extends Field {
  readonly part: Part
  readonly declared: Schema
  readonly shape: FieldShape
}

/** A resource, complete as far as it can be read. */
export interface ResourceView extends Pick<Resource, 'name' | 'member'> {
  readonly part: Part
  readonly fields: readonly FieldView[]
  readonly field: ReadonlyMap<string, FieldView>
  readonly owner: unknown
  /** The declared access rules by action; empty if there are none. */
  readonly access: Readonly<Record<string, unknown>>
}

/** All resources that are objects, by name. */
export type ResourceViews = ReadonlyMap<string, ResourceView>

/** Reads what can be read of each resource. */
export function viewsOf(resources: Part): ResourceViews {
  const views = resources.entries().flatMap(([name, part]) => (isObject(part.value) ? [viewOf(name, part)] : []))
  return new Map(views.map((view) => [view.name, view]))
}

function viewOf(name: string, part: Part): ResourceView {
  const fields = part
    .key('fields')
    .entries()
    .map(([field, each]) => viewOfField(field, each))
  return {
    ...{ name, part, fields, field: new Map(fields.map((field) => [field.name, field])) },
    member: membersOf(fields),
    owner: part.key('owner').value,
    access: part.key('access').record,
  }
}

/** Reads what can be read of a field. */
export function viewOfField(name: string, part: Part): FieldView {
  const declared = part.record
  const field = completeField(name, declared as FieldDeclaration, false, false)
  return { ...field, part, declared, shape: shapeOf(declared) }
}
