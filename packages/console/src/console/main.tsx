/** Starts the console in its page. */
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { keptSession, takeAnswer } from './interface/openid.ts'
import { readPageSettings } from './interface/page-settings.ts'
import { updateSession } from './interface/session.ts'
import { restoreTheme } from './shell/theme.ts'

const settings = readPageSettings(document)
document.title = settings.title
restoreTheme()
const answer = takeAnswer()
if (settings.openid !== null) updateSession(keptSession(settings.openid))

createRoot(document.getElementById('root') ?? document.body).render(
  <StrictMode>
    <App settings={settings} answer={answer} />
  </StrictMode>,
)
