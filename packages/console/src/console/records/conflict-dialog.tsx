/** Two people have changed one record: what it was, what they made of it, and what I typed. I choose for each field. */
import { type ReactNode, useState } from 'react'
import { sameJson, type Values } from '../forms/draft.ts'
import { type Collection, type Field, fieldLabel } from '../interface/catalog.ts'
import type { RecordData } from '../interface/records.ts'
import { Dialog } from '../ui/dialog.tsx'
import { SmallTable } from '../ui/small-table.tsx'
import { Value } from '../ui/value.tsx'

interface Props {
  readonly collection: Collection
  readonly before: RecordData
  readonly mine: Values
  readonly theirs: RecordData
  readonly onClose: () => void
  /** @param values what is to be changed in their record */
  readonly onResolve: (values: Values) => void
}

export function ConflictDialog({ collection, before, mine, theirs, onClose, onResolve }: Props): ReactNode {
  const rows = collection.fields.filter(
    ({ name, read_only }) => Object.hasOwn(mine, name) || (read_only !== true && !sameJson(before[name], theirs[name])),
  )
  const bothChanged = (name: string) => Object.hasOwn(mine, name) && !sameJson(before[name], theirs[name])
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(Object.keys(mine)))
  const choose = (name: string, isMine: boolean) => {
    const next = new Set(chosen)
    if (isMine) next.add(name)
    else next.delete(name)
    setChosen(next)
  }
  const resolve = () => {
    const kept = Object.entries(mine).filter(([name, value]) => chosen.has(name) && !sameJson(value, theirs[name]))
    onResolve(Object.fromEntries(kept))
  }
  return (
    <Dialog
      title="Somebody else has changed this record"
      wide
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Back to the form
          </button>
          <button type="button" className="primary" onClick={resolve}>
            Continue with these values
          </button>
        </>
      }
    >
      <p>Nothing is saved yet. Choose what each field shall have, then save.</p>
      <SmallTable titles={['Field', 'Before', 'Theirs', 'Mine']}>
        {rows.map(({ name, schema, reference }) => (
          <tr key={name} className={bothChanged(name) ? 'both-changed' : undefined}>
            <th scope="row">{fieldLabel({ name, reference })}</th>
            <td>
              <Value value={before[name]} schema={schema} />
            </td>
            <td>
              <Choice
                {...{ name, reference }}
                side="theirs"
                isChosen={!chosen.has(name)}
                onChoose={() => choose(name, false)}
              >
                <Value value={theirs[name]} schema={schema} />
              </Choice>
            </td>
            <td>
              {Object.hasOwn(mine, name) ? (
                <Choice
                  {...{ name, reference }}
                  side="mine"
                  isChosen={chosen.has(name)}
                  onChoose={() => choose(name, true)}
                >
                  <Value value={mine[name] ?? null} schema={schema} />
                </Choice>
              ) : (
                <span className="quiet">not changed</span>
              )}
            </td>
          </tr>
        ))}
      </SmallTable>
    </Dialog>
  )
}

interface ChoiceProps extends Pick<Field, 'name' | 'reference'> {
  readonly side: 'theirs' | 'mine'
  readonly isChosen: boolean
  readonly onChoose: () => void
  readonly children: ReactNode
}

function Choice({ name, reference, side, isChosen, onChoose, children }: ChoiceProps): ReactNode {
  const label = `${fieldLabel({ name, reference })}: keep ${side}`
  return (
    <span className="row">
      <input type="radio" name={name} aria-label={label} checked={isChosen} onChange={onChoose} />
      {children}
    </span>
  )
}
