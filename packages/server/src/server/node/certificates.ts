/**
 * TLS certificates (SEC-1): those that an operator provides as files, renewed while the server runs, and the local one
 * that is made if there are none.
 */
import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import type { Observe } from '../observe/observe.ts'
import { selfSigned } from './self-signed.ts'

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** The settings that decide about TLS. */
export interface TlsOptions {
  readonly host: string
  readonly http?: boolean | undefined
  readonly trustProxy?: boolean | undefined
  readonly tlsCert?: string | undefined
  readonly tlsKey?: string | undefined
}

/** The hosts that only this machine reaches. */
export const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])

/**
 * The certificate that settings ask for: that in files, the local one, or none, because a proxy or nobody has TLS.
 *
 * @throws ConfigurationError if the settings contradict each other
 */
export function certificateFor(options: TlsOptions): CertificateFiles | 'local' | 'none' {
  const { http = false, host, tlsCert, tlsKey, trustProxy = false } = options
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new ConfigurationError('--tls-cert and --tls-key go together: give both, or neither for a local certificate.')
  }
  if (http && tlsCert !== undefined) throw new ConfigurationError('--http and --tls-cert contradict each other.')
  if (http && !trustProxy && !loopback.has(host)) {
    throw new ConfigurationError(
      `--http serves on loopback only, not on ${host}. ` +
        'Leave --http out for HTTPS, or use --trust-proxy behind a proxy.',
    )
  }
  if (tlsCert !== undefined && tlsKey !== undefined) return { cert: tlsCert, key: tlsKey }
  return http || trustProxy ? 'none' : 'local'
}

/** A certificate with its chain, and its key, as PEM texts. */
export interface CertificatePair {
  readonly cert: string
  readonly key: string
}

// The files are read again each time: symbolic links, as certbot and Kubernetes use them, cannot be watched.
// Milliseconds.
const interval = 10_000

/**
 * Reads the files when the server starts.
 *
 * @throws ConfigurationError if a file cannot be read, or certificate and key do not match
 */
export function readCertificate(files: CertificateFiles): CertificatePair {
  const pair = { cert: read(files.cert), key: read(files.key) }
  const problem = problemOf(pair)
  if (problem === undefined) return pair
  throw new ConfigurationError(
    `--tls-cert ${files.cert} and --tls-key ${files.key} cannot be used: ${problem}. ` +
      'Give a certificate and its own key, in PEM form.',
  )
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new ConfigurationError(`${file} cannot be read: give a certificate or key in PEM form.`)
  }
}

/** Why a pair cannot be used; `undefined`: it can. */
function problemOf(pair: CertificatePair): string | undefined {
  try {
    createSecureContext(pair)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Reads the files every ten seconds, and applies a new pair. A pair that cannot be used, such as a new certificate
 * beside the old key, is reported once, and the pair before it stays in use.
 *
 * @param current the pair in use
 * @param renew applies a new pair
 * @returns a function that ends the polling
 */
export function watchCertificate(
  files: CertificateFiles,
  current: CertificatePair,
  renew: (pair: CertificatePair) => void,
  { observe, every = interval }: { readonly observe: Observe; readonly every?: number },
): () => void {
  let used = textOf(current)
  let refused: string | undefined
  let ended = false
  const refuse = (what: string, reason: string) => {
    if (what !== refused) observe({ kind: 'certificate', state: 'refused', reason })
    refused = what
  }
  const look = async () => {
    let pair: CertificatePair
    try {
      pair = { cert: await readFile(files.cert, 'utf8'), key: await readFile(files.key, 'utf8') }
    } catch (error) {
      const { code = 'unreadable', path = files.cert } = error as NodeJS.ErrnoException
      return refuse(code, `${path} cannot be read (${code})`)
    }
    const text = textOf(pair)
    if (ended || text === used || text === refused) return
    const problem = problemOf(pair)
    if (problem !== undefined) return refuse(text, `${files.cert} and ${files.key} cannot be used: ${problem}`)
    renew(pair)
    used = text
    refused = undefined
    observe({ kind: 'certificate', state: 'renewed', until: new X509Certificate(pair.cert).validToDate.toISOString() })
  }
  let timer: NodeJS.Timeout
  const again = () => {
    timer = setTimeout(() => void look().finally(() => ended || again()), every).unref()
  }
  again()
  return () => {
    ended = true
    clearTimeout(timer)
  }
}

function textOf({ cert, key }: CertificatePair): string {
  return `${cert}\0${key}`
}

/** A certificate and its key as PEM texts, and the file with which clients can trust it. */
export interface LocalCertificate extends CertificatePair {
  /** For instance for `curl --cacert`. It contains no secret. */
  readonly caFile: string
}

const day = 86_400_000
// Browsers and operating systems accept no longer validity.
const validDays = 397
const renewedWithinDays = 30

/**
 * Returns the certificate for `localhost`, 127.0.0.1 and ::1 in a folder. It is made if there is none, if it expires
 * within 30 days, or if it cannot be read. It is self-signed and cannot sign others: trusting it trusts these three
 * names only.
 *
 * @param folder created if missing, accessible to its owner only
 * @param now milliseconds since 1970
 */
export async function localCertificate(folder: string, now = Date.now()): Promise<LocalCertificate> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // Key and certificate are one file, so that no crash can leave a key beside the certificate of another.
  const pairFile = join(folder, 'localhost-key.pem')
  const caFile = join(folder, 'localhost.pem')
  const kept = await readPair(pairFile, now)
  let pair = kept.usable
  if (pair === undefined) {
    await put(pairFile, makePair(now), 0o600, kept.found)
    // Another process may have written the file first: its pair is used.
    pair = (await readPair(pairFile, now)).usable
    if (pair === undefined) throw new Error(`The certificate in ${folder} cannot be used: remove it and start again.`)
  }
  const published = await readFile(caFile, 'utf8').catch(() => undefined)
  if (published !== pair.cert) await put(caFile, pair.cert, 0o644, true)
  return { ...pair, caFile }
}

async function readPair(file: string, now: number): Promise<{ found: boolean; usable: CertificatePair | undefined }> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return { found: false, usable: undefined }
  const key = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n/.exec(text)?.[0]
  const cert = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/.exec(text)?.[0]
  const usable = key !== undefined && cert !== undefined && fits(key, cert, now) ? { key, cert } : undefined
  return { found: true, usable }
}

function fits(key: string, cert: string, now: number): boolean {
  try {
    const certificate = new X509Certificate(cert)
    const lasts = certificate.validToDate.getTime() - now > renewedWithinDays * day
    return lasts && certificate.validFromDate.getTime() <= now && certificate.checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

function makePair(now: number): string {
  // A day of tolerance for clocks that differ.
  const [from, until] = [new Date(now - day), new Date(now + validDays * day)]
  const { key, cert } = selfSigned('Resourced on this machine', from, until)
  return key + cert
}

/** Writes a file atomically. Unless it `replaces`, an existing file stays. */
async function put(file: string, text: string, mode: number, replaces: boolean): Promise<void> {
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, text, { mode, flag: 'wx', flush: true })
  if (replaces) {
    await rename(draft, file)
    return
  }
  try {
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
}
