/**
 * What somebody has typed into a form: the values that differ from those that the form began with, and texts that say
 * more than a value, such as half a number. Drafts outlive their form: nobody loses one by looking something up.
 */
import { useState } from 'react'
import type { ProblemEntry } from '../interface/problem.ts'
import type { JsonValue, TaggedRecord } from '../interface/records.ts'
import { isObject } from './input-kind.ts'

export type Values = Readonly<Record<string, JsonValue | undefined>>

/** A text as it was typed. */
export interface Typed {
  readonly text: string
  /** Why it is no value. */
  readonly wrong?: string
}

export interface Draft {
  /** The changed fields. `undefined`: the field is left out, so that the server sets its default. */
  readonly values: Values
  /** By JSON Pointer: what was typed where the value does not say it. */
  readonly texts: Readonly<Record<string, Typed>>
  /** The record that the changes are of, with its tag, however new the one is that the server has. */
  readonly begun?: TaggedRecord | undefined
}

export const emptyDraft: Draft = { values: {}, texts: {} }
const kept = new Map<string, Draft>()

export interface DraftHandle {
  readonly draft: Draft
  readonly isChanged: boolean
  /** @param base the value that the form began with: it is no change */
  readonly set: (field: string, value: JsonValue | undefined, base: JsonValue | undefined) => void
  /** @param typed `undefined`: the value says it all */
  readonly setText: (pointer: string, typed: Typed | undefined) => void
  readonly replace: (draft: Draft) => void
  /** Forgets the changes that were saved; those that were made since are changes of the saved record. */
  readonly saved: (values: Values, record: TaggedRecord) => void
  readonly clear: () => void
}

/**
 * @param key what the form is about: drafts with the same key are the same draft
 * @param record the record that is changed, as the server has it now
 */
export function useDraft(key: string, record?: TaggedRecord): DraftHandle {
  const [, render] = useState({})
  const draft = kept.get(key) ?? emptyDraft
  const change = (next: (before: Draft) => Draft) => {
    const before = kept.get(key) ?? { ...emptyDraft, begun: record }
    keepDraft(key, next(before))
    render({})
  }
  return {
    draft,
    isChanged: isChanged(draft),
    set: (field, value, base) => change((before) => withValue(before, field, value, base)),
    setText: (pointer, typed) => change((before) => withText(before, pointer, typed)),
    replace: (next) => change(() => next),
    saved: (values, begun) => change((before) => withoutSaved(before, values, begun)),
    clear: () => change(() => emptyDraft),
  }
}

/** @param id of the record; of a new one, what the address says of it: `?project_id=…` */
export function draftKey(version: string, collection: string, id: string): string {
  return `${version} ${collection}/${id}`
}

/** Keeps a draft for a form that is opened later. */
export function keepDraft(key: string, draft: Draft): void {
  if (isChanged(draft)) kept.set(key, draft)
  else kept.delete(key)
}

/** Forgets what somebody has typed: somebody else uses the page now. */
export function dropDrafts(): void {
  kept.clear()
}

// Whoever closes the page is asked first.
globalThis.addEventListener?.('beforeunload', (event) => {
  if ([...kept.values()].some(isChanged)) event.preventDefault()
})

export function isChanged({ values, texts }: Draft): boolean {
  return Object.keys(values).length + Object.keys(texts).length > 0
}

/** Whether somebody has typed what is no value. */
export function hasUnreadable({ texts }: Draft): boolean {
  return Object.values(texts).some(({ wrong }) => wrong !== undefined)
}

export function withValue(
  { values, ...draft }: Draft,
  field: string,
  value: JsonValue | undefined,
  base: JsonValue | undefined,
): Draft {
  const { [field]: _, ...others } = values
  return { ...draft, values: sameJson(value, base) ? others : { ...others, [field]: value } }
}

/** What was typed inside the place is forgotten: entries of a list may have moved. */
export function withText({ texts, ...draft }: Draft, pointer: string, typed: Typed | undefined): Draft {
  const others = Object.entries(texts).filter(([each]) => !isWithin(each, pointer))
  return { ...draft, texts: Object.fromEntries(typed === undefined ? others : [...others, [pointer, typed]]) }
}

export function withoutSaved({ values, texts }: Draft, saved: Values, begun: TaggedRecord): Draft {
  const later = Object.entries(values).filter(([field, value]) => !(field in saved && saved[field] === value))
  return onlyFields({ values: Object.fromEntries(later), texts, begun })
}

/** The draft without the texts of fields that are not changed. */
export function onlyFields(draft: Draft): Draft {
  const fields = Object.keys(draft.values).map((field) => pointerOf('', field))
  const texts = Object.entries(draft.texts).filter(
    ([pointer, { wrong }]) => wrong !== undefined || fields.some((field) => isWithin(pointer, field)),
  )
  return { ...draft, texts: Object.fromEntries(texts) }
}

/**
 * The request that gives fields their values. A JSON Merge Patch says it shortest, but merges objects: members that
 * were removed would stay, and those that are null would go. Objects are therefore set by a JSON Patch (MET-4).
 */
export function patchOf(values: Values): {
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
} {
  const changes = Object.entries(values).map(([name, value]) => [name, value ?? null] as const)
  if (!changes.some(([, value]) => isObject(value))) return { headers: {}, body: Object.fromEntries(changes) }
  return {
    headers: { 'Content-Type': 'application/json-patch+json' },
    body: changes.map(([name, value]) => ({ op: 'add', path: pointerOf('', name), value })),
  }
}

export function sameJson(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return one === other || JSON.stringify(one, inOrder) === JSON.stringify(other, inOrder)
}

/** The members of objects in one order. */
function inOrder(_: string, value: JsonValue): JsonValue {
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value
}

/** The pointer of a member, as RFC 6901 writes it. */
export function pointerOf(parent: string, member: string | number): string {
  return `${parent}/${String(member).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Whether a pointer leads to a place or into it. */
export function isWithin(pointer: string | undefined, place: string): boolean {
  return pointer === place || (pointer?.startsWith(`${place}/`) ?? false)
}

/** The messages of a place: those about it, and those about what is inside and has no place of its own. */
export function messagesAt(
  errors: readonly ProblemEntry[],
  place: string,
  inner: readonly (string | number)[] = [],
): string[] {
  const places = inner.map((member) => pointerOf(place, member))
  return errors
    .filter(({ pointer }) => isWithin(pointer, place) && !places.some((each) => isWithin(pointer, each)))
    .map(({ message }) => message)
}
