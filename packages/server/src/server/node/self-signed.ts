/**
 * Makes a self-signed certificate for this machine (RFC 5280 section 4.1), in DER (ITU-T X.690). Node.js signs, but
 * writes no certificates. Packages that do are larger than the rest of the program together.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A private key and its certificate, both PEM. */
export interface SelfSigned {
  readonly key: string
  readonly cert: string
}

/**
 * A certificate of localhost, 127.0.0.1 and ::1, for servers, with an ECDSA key on P-256.
 *
 * @param commonName of the subject, which is the issuer too
 */
export function selfSigned(commonName: string, from: Date, until: Date): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(oid('2.5.4.3'), utf8(commonName))))
  const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))
  const certificate = sequence(
    explicit(0, integer(Buffer.of(2))), // version 3
    integer(serialNumber()),
    ecdsaWithSha256,
    name,
    sequence(time(from), time(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions())),
  )
  const signed = sequence(certificate, ecdsaWithSha256, bits(0, sign('sha256', certificate, privateKey)))
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert: pem(signed) }
}

function extensions(): Buffer[] {
  const digitalSignature = bits(7, Buffer.of(0x80))
  const serverAuthentication = sequence(oid('1.3.6.1.5.5.7.3.1'))
  const loopback6 = Buffer.alloc(16)
  loopback6[15] = 1
  const names = sequence(
    tagged(0x82, Buffer.from('localhost', 'ascii')),
    tagged(0x87, Buffer.of(127, 0, 0, 1)),
    tagged(0x87, loopback6),
  )
  return [
    extension('2.5.29.19', true, sequence()), // basic constraints: no certificate authority
    extension('2.5.29.15', true, digitalSignature),
    extension('2.5.29.37', false, serverAuthentication),
    extension('2.5.29.17', false, names),
  ]
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  const isCritical = critical ? [tagged(0x01, Buffer.of(0xff))] : []
  return sequence(oid(id), ...isCritical, tagged(0x04, value))
}

/** 127 random bits. The first is set and the sign is not, so that the number is positive and in its shortest form. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40
  return bytes
}

/** RFC 5280 section 4.1.2.5: two digits for years before 2050, four from then on. */
function time(moment: Date): Buffer {
  const digits = moment.toISOString().replace(/\.\d+|[-:T]/g, '')
  const isShort = moment.getUTCFullYear() < 2050
  return isShort ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits))
}

/** An object identifier: the first two numbers share one, and each is written in groups of seven bits. */
function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const groups = (number: number): number[] =>
    number < 128 ? [number] : [...groups(Math.floor(number / 128)).map((each) => each | 0x80), number % 128]
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(groups)))
}

function tagged(tag: number, ...content: readonly Buffer[]): Buffer {
  const value = Buffer.concat(content)
  const { length } = value
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), value])
}

const sequence = (...content: readonly Buffer[]) => tagged(0x30, ...content)
const set = (...content: readonly Buffer[]) => tagged(0x31, ...content)
const integer = (bytes: Buffer) => tagged(0x02, bytes)
const utf8 = (text: string) => tagged(0x0c, Buffer.from(text))
const bits = (unused: number, bytes: Buffer) => tagged(0x03, Buffer.of(unused), bytes)
const explicit = (number: number, content: Buffer) => tagged(0xa0 + number, content)

function pem(der: Buffer): string {
  const lines = der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}
