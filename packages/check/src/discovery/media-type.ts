/** Finds out which media type of JSON a server sends and expects, where it is another one than application/json. */
import { type Requester, type RequestParts, requestFollowing } from '../client/client.ts'
import { type Answer, type Exchange, fieldOf, jsonApiType, mediaTypeOf } from '../client/exchange.ts'

/** Reads an address; if the server has another media type than application/json, in that one. */
export async function requestRecords(requester: Requester, url: string, parts: RequestParts = {}): Promise<Exchange> {
  const exchange = await requestFollowing(requester, url, parts)
  const { answer } = exchange
  if (answer === undefined || requester.client.mediaType !== undefined) return exchange
  if (answer.status !== 406 && mediaTypeOf(answer) !== jsonApiType) return exchange
  const any = await requestFollowing(requester, url, { ...parts, fields: [['Accept', '*/*']] })
  const found = [any.answer, answer].flatMap((each) => each ?? []).flatMap(mediaTypesIn)[0]
  if (found === undefined) return exchange
  requester.client.mediaType = found
  return requestFollowing(requester, url, parts)
}

/** The media types of JSON that a response has or names. */
export function mediaTypesIn(answer: Answer): string[] {
  const named = ['Content-Type', 'Accept', 'Accept-Post', 'Accept-Patch'].flatMap((name) => fieldOf(answer, name) ?? [])
  const all = named.flatMap((each) => each.toLowerCase().match(/\bapplication\/[\w.-]+\+json\b/g) ?? [])
  return all.filter((each) => !/problem|patch/.test(each))
}
