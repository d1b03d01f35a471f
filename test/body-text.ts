/** The bodies of responses as their clients read them. */
import { isFile, type ResponseBody } from '../packages/server/src/http/message.ts'
import { openFile, piecesOf } from '../packages/server/src/server/node/file-body.ts'

/** A body as text; empty if there is none. */
export async function bodyText(body: ResponseBody): Promise<string> {
  if (!isFile(body)) return body === undefined ? '' : Buffer.from(body as string).toString()
  const file = await openFile(body)
  try {
    return Buffer.concat(await Array.fromAsync(piecesOf(file, body))).toString()
  } finally {
    await file.close()
  }
}
