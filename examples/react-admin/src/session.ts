/** Who is signed in: the API key of a tab, and what react-admin asks about it. */
import type { AuthProvider } from 'ra-core'

const name = 'studio.key'

/** The key of the tab, if somebody is signed in. */
export function key(): string | undefined {
  return sessionStorage.getItem(name) ?? undefined
}

/** Signs in with an API key. A request that is refused with 401 signs out; 403 concerns the request only. */
export const authProvider: AuthProvider = {
  async login({ key }: { readonly key: string }) {
    sessionStorage.setItem(name, key)
  },
  async logout() {
    sessionStorage.removeItem(name)
  },
  async checkAuth() {
    if (key() === undefined) throw new Error('Sign in with an API key.')
  },
  async checkError({ status }: { readonly status?: number }) {
    if (status === 401) throw new Error('The key is not valid.')
  },
}
