/**
 * References in a case represent values that are known only when its requests are sent, such as the path of a record
 * that the case creates. A reference is a text that contains a token (`«one|etag»`). It can be used in addresses,
 * header fields, JSON values and names of members, and cases remain plain data. `fill.ts` replaces tokens with values.
 */
import type { Ask, Body, Request } from './case.ts'
import type { PartOfStep, ValueOfCase } from './fill.ts'
import { type MemberKind, memberKinds } from './members.ts'

export type Target = string | Reference

export type More = Omit<Request, 'method' | 'to' | 'body'>

/** Has its name before the tokens of a reference are made with it. */
class Named {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/**
 * The name of a step. Later steps and expectations use it to refer to the records that the step created and to its last
 * response. In a text, a reference is the path of its record: `${one}/restore`.
 */
export class Reference extends Named {
  /** References with these names. */
  static named<const Names extends readonly string[]>(...names: Names): { readonly [Index in keyof Names]: Reference } {
    return names.map((name) => new Reference(name)) as { [Index in keyof Names]: Reference }
  }

  /** The path of the record: `/v1/cities/7`. */
  readonly path = this.#token('path')
  readonly id = this.#token('id')
  /** An identifier of the same form that no record has ever had. */
  readonly otherId = this.#token('other')
  readonly etag = this.#token('etag')
  /** An entity tag of the same form with one character changed. */
  readonly otherEtag = this.#token('etag', 'other')
  readonly location = this.#token('location')
  /** The value of the member that says who owns the record. */
  readonly owner = this.#token('owner')
  /** The cursor of the next page, percent-encoded. */
  readonly next = this.#token('next')
  /** The same cursor with one character changed. */
  readonly forgedNext = this.#token('next', 'forged')
  readonly previous = this.#token('previous')
  /** The id of the last message of a stream. */
  readonly messageId = this.#token('message')

  /** The value of a header field. */
  field(name: string): string {
    return this.#token('field', name)
  }

  /** The value at a JSON Pointer in the body. */
  json(pointer: string): string {
    return this.#token('json', pointer)
  }

  /** The target of a relation type in `Link`. */
  link(rel: string): string {
    return this.#token('link', rel)
  }

  /** The identifier of a record in a list, if the case created that record. */
  item(index: number): string {
    return this.#token('item', String(index))
  }

  /** One of several records that a step created. */
  at(index: number): Reference {
    return new Reference(`${this.name}.${index}`)
  }

  override toString(): string {
    return this.path
  }

  get(to: Target, more?: More): Ask {
    return this.send('GET', to, more)
  }

  head(to: Target, more?: More): Ask {
    return this.send('HEAD', to, more)
  }

  options(to: Target, more?: More): Ask {
    return this.send('OPTIONS', to, more)
  }

  post(to: Target, body?: Body, more?: More): Ask {
    return this.send('POST', to, { body, ...more })
  }

  put(to: Target, body?: Body, more?: More): Ask {
    return this.send('PUT', to, { body, ...more })
  }

  patch(to: Target, body?: Body, more?: More): Ask {
    return this.send('PATCH', to, { body, ...more })
  }

  /** Changes a record: by PATCH, or where that is not supported by PUT of what created the record, with the change. */
  change(to: Target, more?: More): Ask {
    return this.send('CHANGE', to, { body: { from: 'change' }, ...more })
  }

  delete(to: Target, more?: More): Ask {
    return this.send('DELETE', to, more)
  }

  /** A request whose response is checked, with any status. */
  send(method: string, to: Target, { body, ...more }: Omit<Request, 'method' | 'to'> = {}): Ask {
    const request = { method, to: String(to), ...more, ...(body === undefined ? {} : { body }) }
    return { kind: 'ask', as: this.name, request, isPreparation: false }
  }

  #token(part: PartOfStep, detail?: string): string {
    return `«${this.name}|${part}${detail === undefined ? '' : `:${detail}`}»`
  }
}

function value(name: ValueOfCase, detail?: string): string {
  return `«${name}${detail === undefined ? '' : `:${detail}`}»`
}

/** The path of the interface's base; empty if the interface is at the root. */
export const base = value('base')
export const host = value('host')

/** The path of the case's collection, its part after the base, its name, and the name of its member for identifiers. */
export const collection = value('collection')
export const collectionPath = value('path')
export const collectionName = value('name')
export const idMember = value('id')

/** The text that marks all records of a case, and the query that finds exactly these records. */
export const mark = value('mark')
export const caseFilter = value('mine')

/** The list of exactly the records that the case created. */
export const caseRecords = `${collection}?${caseFilter}`

/**
 * A list that shows at least the records that the case created: without a query that finds exactly these, as much of
 * the whole list as fits on a page, the newest records first if it can be sorted.
 */
export const listWithCase = `${collection}?${value('shown')}`

/** A word that occurs only in this case's records. */
export const word = value('word')

/** The mark and the word, in capitals. */
export const uppercase = { mark: value('mark', 'upper'), word: value('word', 'upper') }

/** An identifier of the usual form that no record has. */
export const unusedId = value('unused')

/** An identifier that no record has, and that a client could choose. */
export const absentId = value('absent')

/** The record that the case's records refer to first, its collection, and the list of the case's records below it. */
export const parent = new Reference('parent')
export const parentCollection = value('parents')
export const nestedList = value('nested')

/** The names of members by the features that they support: `members.ranked`. */
export const members = byKind((kind) => value('member', kind))

/** The valid value that the first changeable member has after a change. */
export const changedValue = value('changed')

/** Two valid values of such a member, in the order in which they sort. */
export const ordered = { less: byKind((kind) => value('less', kind)), more: byKind((kind) => value('more', kind)) }

/** The parameter for the size of a page, the smallest size, and the parameters of pages by number. */
export const paging = {
  size: value('size'),
  smallest: value('smallest'),
  perPage: value('page-size'),
  page: value('page'),
}

/**
 * The caller's credential without its scheme, the same with one character changed, and all credential fields as bytes.
 */
export const key = value('key')
/** The secret of an invalid credential. */
export const wrongKey = value('wrong')
export const credentialFields = '«credential»'

/** Addresses and names from the profile. */
export const configured = {
  deprecatedBase: value('deprecated'),
  deprecatedVersion: value('deprecated-version'),
  versionField: value('version-field'),
  retiredBase: value('retired'),
  openPath: value('open'),
  documentAddress: value('document'),
  allowedOrigin: value('origin'),
  exportFormat: value('format'),
}

function byKind(token: (kind: MemberKind) => string): Readonly<Record<MemberKind, string>> {
  return Object.fromEntries(memberKinds.map((kind) => [kind, token(kind)])) as Record<MemberKind, string>
}
