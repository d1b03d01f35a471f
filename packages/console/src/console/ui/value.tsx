/**
 * A value of a record as text. Whatever it contains is shown as text: control characters and the marks that change the
 * direction of writing are made visible, so that no value can disguise itself.
 */
import type { ReactNode } from 'react'
import { type Schema, typesOf } from '../interface/catalog.ts'
import type { JsonValue } from '../interface/records.ts'

/** The most characters of a value in a list. */
const shownInList = 200
/** The most characters of a value at once: browsers need seconds for a megabyte of one word. */
const shownAtOnce = 20_000

interface Props {
  readonly value: JsonValue | undefined
  readonly schema: Schema
  /** Whether the value stands in a list, where long texts are cut. */
  readonly short?: boolean
}

export function Value({ value, schema, short = false }: Props): ReactNode {
  if (value === undefined) return null
  if (value === null) return <span className="null">null</span>
  if (typeof value === 'boolean') return <span className={value ? 'yes' : 'no'}>{value ? 'yes' : 'no'}</span>
  if (typeof value === 'string' && value.trim() === '') {
    return <span className="null">{value === '' ? 'empty' : 'blank'}</span>
  }
  const text = textOf(value, schema, short)
  const isNumber = typeof value === 'number' || schema.format === 'decimal'
  const className = schema.enum !== undefined ? 'tag' : isNumber ? 'number' : 'text'
  return (
    <bdi className={className} title={titleOf(value, text, short)}>
      {brief(text, short ? shownInList : shownAtOnce)}
    </bdi>
  )
}

/** Where a list cuts a text or leaves something out, the whole of it. */
function titleOf(value: JsonValue, text: string, isShort: boolean): string | undefined {
  if (!isShort) return undefined
  if (text.length > 40) return visible(text.slice(0, 2_000))
  return typeof value === 'string' && value !== text ? value : undefined
}

function textOf(value: JsonValue, schema: Schema, isShort: boolean): string {
  if (typeof value === 'string') {
    return schema.format === 'date-time' && typesOf(schema).includes('string') ? formatTime(value, isShort) : value
  }
  if (isShort && Array.isArray(value) && value.length > 0 && value.every((each) => typeof each !== 'object')) {
    return value.join(', ')
  }
  return typeof value === 'object' ? JSON.stringify(value, null, 1) : String(value)
}

/** A moment in the reader's own time zone, which is named except in tables; the text itself if it is none. */
export function formatTime(value: string, isShort = false): string {
  const moment = new Date(value)
  if (Number.isNaN(moment.getTime())) return value
  return moment.toLocaleString(undefined, {
    ...{ year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
    ...(!isShort && { timeZoneName: 'short' }),
  })
}

/** The beginning of a text, in characters that everybody sees. */
export function brief(text: string, most = shownInList): string {
  if (text.length <= most) return visible(text)
  // Half a character is none.
  return `${visible(text.slice(0, most).replace(/[\ud800-\udbff]$/, ''))}…`
}

// U+3164 and its kin are letters without a shape.
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u115f\u1160\u3164\uffa0]/gu

/** Shows characters that have no shape of their own as their code points. Line breaks and tabs stay. */
export function visible(text: string): string {
  return text.replace(invisible, (character) => {
    if (character === '\n' || character === '\t' || character === '\r' || character === '\u200d') return character
    return `␣U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  })
}
