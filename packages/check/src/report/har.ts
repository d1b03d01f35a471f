/** The exchanges of a run as an HTTP Archive (HAR 1.2), which browsers and proxies open. */
import { STATUS_CODES } from 'node:http'
import type { Client } from '../client/client.ts'
import { type Exchange, type Fields, fieldOf } from '../client/exchange.ts'

interface Recorded {
  readonly exchange: Exchange
  /** In ISO 8601. */
  readonly sent: string
}

export class Recording {
  readonly #all: Recorded[] = []

  constructor(client: Client) {
    client.watch((exchange) => {
      this.#all.push({ exchange, sent: new Date(Date.now() - exchange.milliseconds).toISOString() })
    })
  }

  /**
   * The archive.
   *
   * @param redact replaces credentials in an exchange
   */
  toHar(redact: (exchange: Exchange) => Exchange): string {
    const entries = this.#all.map(({ exchange, sent }) => entryOf(redact(exchange), sent))
    const creator = { name: 'resourced check', version: '1' }
    return `${JSON.stringify({ log: { version: '1.2', creator, entries } }, null, 1)}\n`
  }
}

/** Longer bodies are cut: some cases send megabytes. */
const mostCharacters = 65_536

function entryOf({ step, asked, answer, failure, milliseconds }: Exchange, sent: string) {
  const { method, url, fields, body } = asked
  const version = `HTTP/${answer?.version ?? '1.1'}`
  const type = fieldOf({ fields }, 'Content-Type') ?? ''
  return {
    startedDateTime: sent,
    time: milliseconds,
    request: {
      ...{ method, url, httpVersion: version, cookies: [], headers: headersOf(fields) },
      queryString: URL.canParse(url) ? [...new URL(url).searchParams].map(([name, value]) => ({ name, value })) : [],
      ...(body === undefined ? {} : { postData: { mimeType: type, text: body.slice(0, mostCharacters) } }),
      ...{ headersSize: -1, bodySize: Buffer.byteLength(body ?? '') },
    },
    response: {
      ...{ status: answer?.status ?? 0, statusText: STATUS_CODES[answer?.status ?? 0] ?? '' },
      ...{ httpVersion: version, cookies: [], headers: headersOf(answer?.fields ?? []) },
      content: {
        size: Buffer.byteLength(answer?.body ?? ''),
        mimeType: fieldOf(answer, 'Content-Type') ?? '',
        text: answer?.body.slice(0, mostCharacters) ?? '',
      },
      redirectURL: fieldOf(answer, 'Location') ?? '',
      ...{ headersSize: -1, bodySize: -1 },
    },
    cache: {},
    timings: { send: 0, wait: milliseconds, receive: 0 },
    comment: [step, failure].filter(Boolean).join(': '),
  }
}

function headersOf(fields: Fields): readonly { readonly name: string; readonly value: string }[] {
  return fields.map(([name, value]) => ({ name, value }))
}
