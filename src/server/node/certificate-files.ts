/** The certificate and key that an operator gives as files, and their renewal while the server runs (SEC-1). */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { ConfigurationError } from '../../spec/configuration-error.ts'
import type { Observe } from '../observe/observe.ts'

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** A certificate with its chain, and its key, as PEM texts. */
export interface CertificatePair {
  readonly cert: string
  readonly key: string
}

// The files are read as a whole each time: links, such as those of certbot and Kubernetes, have no change of their own to watch.
const interval = 10_000

/**
 * Reads the files when the server starts.
 *
 * @throws ConfigurationError where a file cannot be read, or the two do not fit
 */
export function readCertificate(files: CertificateFiles): CertificatePair {
  const pair = { cert: read(files.cert), key: read(files.key) }
  const problem = problemOf(pair)
  if (problem === undefined) return pair
  throw new ConfigurationError(
    `--tls-cert ${files.cert} and --tls-key ${files.key} cannot be used: ${problem}. Give a certificate and its own key, in PEM form.`,
  )
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new ConfigurationError(`${file} cannot be read: give a certificate or key in PEM form.`)
  }
}

/** Why a pair cannot be served; `undefined` where it can. A certificate without its own key is refused here too. */
function problemOf(pair: CertificatePair): string | undefined {
  try {
    createSecureContext(pair)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Looks at the files every ten seconds, and hands on a pair that is new and whole. A pair that cannot be used, such as a new
 * certificate beside the old key, is reported once, and the pair before it stays in use.
 *
 * @param current the pair in use
 * @param renew takes a new pair into use
 * @returns a function that ends it
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
