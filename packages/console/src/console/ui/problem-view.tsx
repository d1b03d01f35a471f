/** A problem, for people: what is wrong, every entry, and what to give to whoever reads the log. */
import type { ReactNode } from 'react'
import type { Problem } from '../interface/problem.ts'
import { brief } from './value.tsx'

/** The most characters of a message, which may repeat what was sent. */
const most = 2_000

interface Props {
  readonly problem: Problem
  readonly again?: () => void
}

export function ProblemView({ problem, again }: Props): ReactNode {
  const { status, code, detail, errors: all, requestId } = problem
  const errors = all.filter(({ message }) => message !== detail)
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{brief(detail, most)}</strong>
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ code, message, pointer, parameter, header }) => (
            <li key={`${code} ${pointer ?? parameter ?? header}`}>
              {(pointer ?? parameter ?? header) !== undefined && (
                <code>{brief(pointer ?? parameter ?? header ?? '')}</code>
              )}{' '}
              {brief(message, most)}
            </li>
          ))}
        </ul>
      )}
      <p className="quiet">
        {status > 0 && `${status} `}
        <code>{code}</code>
        {requestId !== undefined && (
          <>
            , request <code>{requestId}</code>
          </>
        )}
      </p>
      {again !== undefined && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}
