/** Reads the options of `resourced check`. */
import { readFileSync } from 'node:fs'
import type { Fields } from '../checker/client/exchange.ts'
import { CannotCheck } from '../checker/profile/profile.ts'
import { suggest } from '../model/nearest.ts'
import { ruleSections, rules } from '../spec/rules.ts'

/** Options as commander passes them. */
export interface CheckCommandOptions {
  readonly key?: string
  readonly otherKey?: string
  readonly header: readonly string[]
  readonly openapi?: string
  readonly profile?: string
  readonly init?: true
  readonly collection: readonly string[]
  readonly readOnly?: true
  readonly yes?: true
  readonly allowChosenIds?: true
  readonly only?: string
  readonly format: 'text' | 'json' | 'junit' | 'markdown' | 'html'
  readonly output?: string
  readonly save?: string
  readonly compare?: string
  readonly insecure?: true
  readonly cacert?: string
  readonly origin?: string
  readonly concurrency?: string
}

/** The server to check, and the credentials of its callers. */
export interface CheckTarget {
  /** Address without credentials. */
  readonly url: string
  readonly credential: Fields
  /** Credential of the second caller, without permissions. */
  readonly other: Fields | undefined
}

/**
 * Reads the address and the credentials.
 *
 * @throws CannotCheck if one of them is invalid
 */
export function targetOf(
  address: string,
  { key, otherKey, header }: Pick<CheckCommandOptions, 'key' | 'otherKey' | 'header'>,
): CheckTarget {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `http://${address}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new CannotCheck('The address has to be an HTTP address, such as https://api.example.com/v1.')
  }
  const named = header.map(fieldFrom)
  const password = decodeURIComponent(url.username) + (url.password && `:${decodeURIComponent(url.password)}`)
  const authorization =
    key !== undefined
      ? `Bearer ${tokenFrom(key, '--key')}`
      : password && `Basic ${Buffer.from(password).toString('base64')}`
  url.username = ''
  url.password = ''
  return {
    url: url.href,
    credential: [...(authorization ? [['Authorization', authorization] as const] : []), ...named],
    other: otherKey === undefined ? undefined : [['Authorization', `Bearer ${tokenFrom(otherKey, '--other-key')}`]],
  }
}

function tokenFrom(key: string, option: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new CannotCheck(
    `${option} takes a key without spaces; it is sent as Authorization: Bearer. Others go with --header 'Name: value'.`,
  )
}

function fieldFrom(text: string): readonly [string, string] {
  const found = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\x20-\x7e]+)$/.exec(text.trim())
  if (found === null) throw new CannotCheck("--header takes a header field: --header 'X-API-Key: …'.")
  return [found[1] as string, (found[2] as string).trim()]
}

/**
 * The sections and rules of `--only`.
 *
 * @throws CannotCheck if there is none with a name
 */
export function onlyOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  const all = new Set([...ruleSections.map(({ prefix }) => prefix), ...rules.map(({ id }) => id)])
  const named = text.split(',').flatMap((each) => each.trim().toUpperCase() || [])
  const unknown = named.find((each) => !all.has(each))
  if (unknown !== undefined || named.length === 0) {
    const advice = suggest(unknown ?? '', all)
    const start = `--only takes sections and rules, such as DEL,CON-3. There is no ${JSON.stringify(unknown ?? '')}.`
    throw new CannotCheck(`${start} ${advice}`.trim())
  }
  return named
}

/** The number of `--concurrency`. */
export function concurrencyOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,3}$/.test(text) && Number(text) > 0) return Number(text)
  throw new CannotCheck(`--concurrency takes a number from 1 to 999, not ${JSON.stringify(text)}.`)
}

/** The text of a file that an option names. */
export function fileOf(file: string, option: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CannotCheck(`${option}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}
