/** What a condition compares: the fields of a resource, and the values that make sense beside each of them. */
import type { issueCodes } from '../../spec/faults.ts'
import { decimalKeyOf } from '../decimal.ts'
import type { FieldShape } from '../field-shape.ts'
import { instantKey, stampKey } from '../instant.ts'
import { suggest } from '../nearest.ts'
import { isRecordId } from '../record-id.ts'
import { type FieldType, type Resource, systemFields } from '../resource.ts'
import { mustBe, show } from './problem.ts'

/** A field, as far as conditions look at it. */
interface ComparedField {
  readonly shape: Pick<FieldShape, 'type' | 'format' | 'enum'>
  readonly declared: { readonly reference?: unknown }
  readonly writeOnly: boolean
}

/** A resource, as far as conditions look at it: a `ResourceView` is one. */
export interface ComparedResource {
  readonly name: string
  readonly fields: ReadonlyMap<string, ComparedField>
}

/** How a field is compared. */
export interface Compared {
  readonly type: FieldType
  /** The texts allowed; `undefined`: any. */
  readonly values: readonly string[] | undefined
  /** What its texts are. `stamp`: a timestamp of the server. */
  readonly texts: 'stamp' | 'instant' | 'date' | 'reference' | 'free'
}

/** A resource that is complete already, to be asked about conditions that are not declared. */
export function comparedResource({ name, fields }: Resource): ComparedResource {
  const views = fields.map((field) => ({ shape: field, declared: field, writeOnly: field.writeOnly }))
  return { name, fields: new Map(views.map((view) => [view.shape.name, view])) }
}

/**
 * How a field is compared; `undefined` where there is no such field.
 *
 * @param system the fields that records have beside the declared ones
 */
export function comparedOf(
  resource: ComparedResource,
  name: string,
  system: readonly string[] = systemFields,
): Compared | undefined {
  if (system.includes(name)) return { type: 'string', values: undefined, texts: name === 'id' ? 'free' : 'stamp' }
  const field = resource.fields.get(name)
  if (field === undefined) return undefined
  const { shape, declared } = field
  return { type: shape.type, values: shape.enum, texts: textsOf(shape, declared.reference !== undefined) }
}

function textsOf({ type, format }: ComparedField['shape'], isReference: boolean): Compared['texts'] {
  if (isReference) return 'reference'
  if (type !== 'string') return 'free'
  if (format === 'date-time') return 'instant'
  return format === 'date' ? 'date' : 'free'
}

/** Whether the texts of a field are points in time, which are compared as such. */
export function isInTime({ texts }: Compared): boolean {
  return texts === 'stamp' || texts === 'instant'
}

/** What stands against a value: why it cannot be compared, and what to write instead. */
export interface ValueProblem {
  readonly code: keyof typeof issueCodes
  readonly message: string
  readonly remedy: string
}

/**
 * What stands against comparing a field with a text, a number or a boolean; `undefined`: nothing.
 *
 * @param isPart whether the value is a part of texts, which need not be one of the field's own
 */
export function objectionTo(compared: Compared, value: unknown, isPart: boolean): ValueProblem | undefined {
  const { type, values } = compared
  if (type === 'decimal') {
    if (decimalKeyOf(value) !== undefined) return undefined
    const message = mustBe('a decimal as the field is', value)
    return { code: 'INVALID_TYPE', message, remedy: 'Write a text of digits such as "19.99", or a number.' }
  }
  const wanted = type === 'integer' ? 'number' : type
  if (typeof value !== wanted) {
    return { code: 'INVALID_TYPE', message: mustBe(`a ${wanted} as the field is`, value), remedy: `Write a ${wanted}.` }
  }
  if (type === 'integer' && !Number.isSafeInteger(value)) {
    return {
      code: 'INVALID_VALUE',
      message: mustBe('a whole number as the field is', value),
      remedy: 'Write one such as 3.',
    }
  }
  if (type !== 'string' || isPart) return undefined
  const text = value as string
  if (values !== undefined && !values.includes(text)) {
    const message = `is not one of the values of the field: ${show(text)}`
    return { code: 'NOT_IN_ENUM', message, remedy: suggest(text, values) }
  }
  const form = forms[compared.texts]
  if (form === undefined || form.fits(text)) return undefined
  return {
    code: 'INVALID_FORMAT',
    message: `is not ${form.what}: ${show(text)}`,
    remedy: `Write one such as "${form.example}".`,
  }
}

/** The form of a text. */
interface Form {
  readonly fits: (text: string) => boolean
  readonly what: string
  readonly example: string
}

const forms: Readonly<Record<Compared['texts'], Form | undefined>> = {
  stamp: {
    fits: (text) => stampKey(text) !== undefined,
    what: 'a date and time of at most milliseconds',
    example: '2026-11-21T08:30:00.000Z',
  },
  instant: {
    fits: (text) => instantKey(text) !== undefined,
    what: 'a date and time',
    example: '2026-11-21T08:30:00Z',
  },
  date: {
    fits: (text) => instantKey(`${text}T00:00:00Z`) !== undefined,
    what: 'a date',
    example: '2026-11-21',
  },
  reference: {
    fits: isRecordId,
    what: 'the id of a record, a UUID in lower case',
    example: '019a8f3c-2b7e-7c41-9d52-6f0e8a1b4c3d',
  },
  free: undefined,
}
