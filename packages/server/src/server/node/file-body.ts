/** Reads the body of a response from a file. */
import { type FileHandle, open } from 'node:fs/promises'
import { fault } from 'resourced-contract/spec/faults'
import type { FileBody } from '../../http/message.ts'

const pieceSize = 65_536

/**
 * Opens the file of a body.
 *
 * @throws Fault NOT_FOUND if the file was removed; otherwise the system's error
 */
export async function openFile({ path }: FileBody): Promise<FileHandle> {
  try {
    return await open(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw fault('NOT_FOUND', { detail: 'The file at this address was just removed.' }, error)
  }
}

/** Memory for one piece of a body. */
export function roomFor({ length }: FileBody): Uint8Array {
  return Buffer.allocUnsafeSlow(Math.min(pieceSize, length))
}

/**
 * Reads a body from its open file, piece by piece.
 *
 * @param room provides the memory for each piece; the same memory only if the piece before is not needed any more
 * @throws Error if the file is shorter than the body; the system's error if it cannot be read
 */
export async function* piecesOf(
  file: FileHandle,
  body: FileBody,
  room: () => Uint8Array,
): AsyncGenerator<Uint8Array, void, undefined> {
  const end = body.start + body.length
  for (let position = body.start; position < end; ) {
    const buffer = room()
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - position), position)
    if (bytesRead === 0) throw new Error(`A file ended ${end - position} bytes before the body that was announced.`)
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}
