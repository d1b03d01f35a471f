/**
 * Tokens of positions in the order of events: the ids that streams send. A token reveals nothing about its position,
 * which counts the changes of everybody (AUT-9), and cannot be made up.
 */
import { type Cipheriv, createCipheriv, createDecipheriv, hash, randomFillSync } from 'node:crypto'
import type { EventPosition } from 'resourced-contract/model/event'

const blockBytes = 16
// A block has random bytes, so that the same position has many tokens; then the position and its mark; then bytes that
// show that the token was made here.
const positionAt = 4
const positionBytes = 6
const markAt = positionAt + positionBytes
const markBytes = 3
const check = Buffer.from('Res')
// One block of random content needs no mode of operation.
const algorithm = 'aes-128-ecb'
const form = /^[A-Za-z0-9_-]{21}[AQgw]$/

/** Makes tokens of positions, and reads them. */
export class PositionTokens {
  readonly #key: Buffer
  // Each event of each stream has a token: a cipher and random bytes of its own would cost ten times as much.
  readonly #cipher: Cipheriv
  readonly #random = Buffer.alloc(4_096)
  #used = 4_096

  /**
   * @param secret the storage's cursor secret: every server on the database reads the same tokens
   */
  constructor(secret: Uint8Array) {
    const text = `positions of events ${Buffer.from(secret).toString('hex')}`
    this.#key = hash('sha256', text, 'buffer').subarray(0, blockBytes)
    this.#cipher = createCipheriv(algorithm, this.#key, null).setAutoPadding(false)
  }

  seal({ position, mark }: EventPosition): string {
    if (this.#used === this.#random.length) {
      randomFillSync(this.#random)
      this.#used = 0
    }
    const block = Buffer.alloc(blockBytes)
    block.writeUInt32BE(this.#random.readUInt32BE(this.#used))
    this.#used += positionAt
    block.writeUIntBE(position, positionAt, positionBytes)
    block.writeUIntBE(mark, markAt, markBytes)
    check.copy(block, markAt + markBytes)
    return this.#cipher.update(block).toString('base64url')
  }

  /** The position of a token; `undefined`: it was not made here. */
  open(token: string): EventPosition | undefined {
    if (!form.test(token)) return undefined
    const decipher = createDecipheriv(algorithm, this.#key, null).setAutoPadding(false)
    const block = decipher.update(Buffer.from(token, 'base64url'))
    const position = block.readUIntBE(positionAt, positionBytes)
    if (!block.subarray(markAt + markBytes).equals(check)) return undefined
    return { position, mark: block.readUIntBE(markAt, markBytes) }
  }
}
