/** Light or dark: the system's choice unless the user makes another one in this tab. */
import { useState } from 'react'

type Theme = 'system' | 'light' | 'dark'

const storageKey = 'resourced.theme'

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function restoreTheme(): void {
  apply(stored())
}

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, set] = useState(stored)
  return [
    theme,
    (next) => {
      localStorage.setItem(storageKey, next)
      apply(next)
      set(next)
    },
  ]
}

function stored(): Theme {
  const value = localStorage.getItem(storageKey)
  return value === 'light' || value === 'dark' ? value : 'system'
}
