/** Offers the current version when the server has retired the one that is shown (VER-4). The view stays the same. */
import type { ReactNode } from 'react'
import { currentVersion, type PageSettings, type VersionSetting } from '../interface/page-settings.ts'
import { Dialog } from '../ui/dialog.tsx'

interface Props {
  readonly settings: PageSettings
  readonly version: VersionSetting
  readonly onClose: () => void
  readonly onVersion: (version: VersionSetting) => void
}

export function RetiredDialog({ settings, version, onClose, onVersion }: Props): ReactNode {
  const current = currentVersion(settings)
  // The page itself may be older than the newest version.
  const isKnown = version.name !== current.name
  const go = () => {
    if (!isKnown) location.reload()
    onVersion(current)
    onClose()
  }
  return (
    <Dialog
      title={`Version ${version.name} was retired`}
      onClose={onClose}
      actions={
        <button type="button" className="primary" onClick={go}>
          {isKnown ? `Continue with ${current.name}` : 'Load the page again'}
        </button>
      }
    >
      <p>The server no longer answers in this version. Close this to copy what you have not saved.</p>
    </Dialog>
  )
}
