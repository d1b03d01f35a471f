/** A certificate for this machine alone, made when nobody gives one (SEC-1). */
import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A certificate and its key as PEM texts, and the file by which a client can trust it. */
export interface LocalCertificate {
  readonly cert: string
  readonly key: string
  /** For instance for `curl --cacert`. Holds no secret. */
  readonly caFile: string
}

const day = 86_400_000
// Within what browsers and systems accept.
const validDays = 397
const renewedWithinDays = 30

/**
 * The certificate for `localhost`, 127.0.0.1 and ::1 kept in a folder; made there when there is none, when it ends
 * within 30 days, or when it cannot be read. It signs itself and can sign nothing else, so that trusting it trusts
 * these three names only.
 *
 * @param folder made when missing, for its owner alone
 * @param now milliseconds since 1970
 */
export async function localCertificate(folder: string, now = Date.now()): Promise<LocalCertificate> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // Key and certificate are one file: no crash can leave a key beside another key's certificate.
  const pairFile = join(folder, 'localhost-key.pem')
  const caFile = join(folder, 'localhost.pem')
  const kept = await readPair(pairFile, now)
  let pair = kept.usable
  if (pair === undefined) {
    await put(pairFile, await makePair(now), 0o600, kept.found)
    // Another process may have been faster: whoever put the file first is right.
    pair = (await readPair(pairFile, now)).usable
    if (pair === undefined) throw new Error(`The certificate in ${folder} cannot be used: remove it and start again.`)
  }
  const published = await readFile(caFile, 'utf8').catch(() => undefined)
  if (published !== pair.cert) await put(caFile, pair.cert, 0o644, true)
  return { ...pair, caFile }
}

interface Pair {
  readonly cert: string
  readonly key: string
}

async function readPair(file: string, now: number): Promise<{ found: boolean; usable: Pair | undefined }> {
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

async function makePair(now: number): Promise<string> {
  // Loading it takes a while, and most starts have a certificate already.
  const { generate } = await import('selfsigned')
  const made = await generate([{ name: 'commonName', value: 'Resourced on this machine' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    // A day's grace for clocks that differ.
    notBeforeDate: new Date(now - day),
    notAfterDate: new Date(now + validDays * day),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  })
  return `${made.private.trim()}\n${made.cert.trim()}\n`
}

/** Puts a whole file in place at once. Unless it `replaces`, a file that is there by then stays. */
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
