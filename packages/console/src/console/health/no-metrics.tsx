/** Why there are no metrics, in the tone that fits: most often nothing is wrong. */
import type { ReactNode } from 'react'
import { ProblemView } from '../ui/problem-view.tsx'
import type { Metrics } from './metrics.ts'

export function NoMetrics({ metrics: { error, isAdministrator } }: { readonly metrics: Metrics }): ReactNode {
  if (!isAdministrator) return <p className="quiet">Only administrators see the metrics.</p>
  if (error === null) return null
  if (error.status === 403) return <p className="quiet">Only administrators see the metrics.</p>
  // An application that is embedded collects them only if it is told to.
  if (error.status === 404) return <p className="quiet">This server collects no metrics.</p>
  return <ProblemView problem={error} />
}
