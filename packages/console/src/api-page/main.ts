/** The API page: asks for a key or goes to the provider, loads the OpenAPI document with it, and shows the document. */

import { finishSignIn, type Grant, keptSession, leaveToSignIn, takeAnswer } from '../console/interface/openid.ts'
import { readPageSettings } from '../console/interface/page-settings.ts'
import {
  type Credential,
  freshCredential,
  session,
  signIn,
  signOut,
  updateSession,
} from '../console/interface/session.ts'
import { versionedInterface } from './versioned-interface.ts'

const settings = readPageSettings(document)
const page = {
  title: element('title', HTMLElement),
  versionLabel: element('version-label', HTMLElement),
  version: element('version', HTMLSelectElement),
  signOut: element('sign-out', HTMLButtonElement),
  form: element('sign-in', HTMLFormElement),
  key: element('key', HTMLInputElement),
  keep: element('keep', HTMLInputElement),
  provider: element('provider', HTMLButtonElement),
  problem: element('problem', HTMLElement),
  loading: element('loading', HTMLElement),
  reference: element('reference', HTMLElement),
}

document.title = `${settings.title} API`
page.title.textContent = document.title
for (const { name, current } of settings.versions) {
  const label = current === true && settings.versions.length > 1 ? `${name} (current)` : name
  page.version.add(new Option(label, name, false, name === settings.version))
}
page.versionLabel.hidden = settings.versions.length < 2
followColourScheme()

page.form.addEventListener('submit', (event) => {
  event.preventDefault()
  void show({ token: page.key.value.trim() }, page.keep.checked)
})
page.version.addEventListener('change', () => void showAgain())
page.signOut.addEventListener('click', signOut)

const answer = takeAnswer()
const { openid } = settings
if (openid !== null) {
  updateSession(keptSession(openid))
  page.provider.hidden = false
  page.provider.textContent = `Sign in with ${new URL(openid.issuer).host}`
  page.provider.addEventListener('click', () => void enter(() => leaveToSignIn(openid, page.keep.checked)))
}
if (session.current().credential !== undefined) void showAgain()
else if (openid !== null && answer !== undefined) void enter(() => finishSignIn(openid, answer))
else askForKey()

/** Signs in with the provider. */
async function enter(grant: () => Promise<Grant | undefined>): Promise<void> {
  try {
    const granted = await grant()
    if (granted !== undefined) await show(granted.credential, granted.keep)
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error))
  }
}

/** Shows the document with the credential of the session. */
async function showAgain(): Promise<void> {
  const token = await freshCredential()
  if (token !== undefined) await show({ token })
}

/**
 * Loads the document of the chosen version, and shows it if the server accepts the credential.
 *
 * @param keep whether a new credential survives a reload; `undefined`: the credential is the session's
 */
async function show(credential: Credential, keep?: boolean): Promise<void> {
  page.problem.hidden = true
  page.loading.hidden = false
  // Loaded while the document is: the larger of the two.
  const library = import('./reference.ts')
  try {
    const chosen = settings.versions.find(({ name }) => name === page.version.value) ?? settings.versions[0]!
    const versioned = versionedInterface(settings, chosen)
    const { url, headers } = versioned.name({ url: `${versioned.base}/openapi.json`, headers: {} })
    const response = await fetch(url, { headers: { ...headers, Authorization: `Bearer ${credential.token}` } })
    if (!response.ok) return refuse(response.status, await response.json().catch(() => ({})))
    const description = (await response.json()) as object
    if (keep !== undefined) signIn(credential, keep)
    page.key.value = ''
    page.form.hidden = true
    page.signOut.hidden = false
    page.reference.hidden = false
    const { showReference } = await library
    showReference(page.reference, description, versioned, freshCredential)
  } catch (error) {
    complain(`The server cannot be reached, or its response cannot be read. Try again. (${String(error)})`)
  } finally {
    page.loading.hidden = true
  }
}

function refuse(status: number, { title, detail }: { readonly title?: unknown; readonly detail?: unknown }): void {
  const sentence = typeof detail === 'string' ? detail : `The server answers with ${status}.`
  complain(
    status === 401 ? 'The server does not accept this key or token.' : `${String(title ?? 'Try again')}: ${sentence}`,
  )
}

function complain(text: string): void {
  page.problem.textContent = text
  page.problem.hidden = false
  if (page.reference.hidden) askForKey()
}

function askForKey(): void {
  page.form.hidden = false
  page.key.focus()
}

/** Swagger UI has a dark theme by a class. */
function followColourScheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', follow)
  follow()
}

/** @throws Error if the page has no such element */
function element<Kind extends HTMLElement>(id: string, kind: abstract new () => Kind): Kind {
  const found = document.getElementById(id)
  if (found instanceof kind) return found
  throw new Error(`The page has no element ${id}.`)
}
