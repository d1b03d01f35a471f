/** The browser of tests, pictures and measurements: Chromium from the registry, or the one that `CHROMIUM` names. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import packed from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

const args = ['--no-sandbox', '--disable-gpu', '--headless=shell']

/** For the option `skip` of a test: why there is no browser; `false`: there is one. */
export const noBrowser: string | false = await whyNoBrowser()

async function whyNoBrowser(): Promise<string | false> {
  if (!existsSync(new URL('../../packages/server/pages/manifest.json', import.meta.url))) {
    return 'the pages are not built: run npm run build:pages'
  }
  // The packed browser is a program for Linux.
  if (process.env.CHROMIUM === undefined && (process.platform !== 'linux' || process.arch !== 'x64')) {
    return 'no browser is known for this platform: set CHROMIUM to one'
  }
  try {
    await retried(async () => promisify(execFile)(await executable(), [...args, '--version'], { timeout: 30_000 }))
    return false
  } catch (error) {
    const { stderr = '', message } = error as Error & { readonly stderr?: string }
    return `the browser does not start: ${(stderr || message).split('\n', 1)[0]}`
  }
}

/** Starts a browser. */
export function launchBrowser(): Promise<Browser> {
  return retried(async () => chromium.launch({ executablePath: await executable(), args }))
}

function executable(): Promise<string> | string {
  return process.env.CHROMIUM ?? packed.executablePath()
}

/** Another process may be unpacking the browser at this moment. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt()
    } catch (error) {
      if (count === 4) throw error
      await sleep(1_000 * count)
    }
  }
}
