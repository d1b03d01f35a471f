/** React without a page: components run with all their hooks and effects, and draw nothing. */
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReactNode } from 'react'
import reconciler from 'react-reconciler'
import { ConcurrentRoot, DefaultEventPriority, NoEventPriority } from 'react-reconciler/constants.js'

const nothing = () => undefined
let priority = NoEventPriority

const { createContainer, updateContainer } = reconciler({
  // Nothing is drawn: elements have no children, texts and attributes that anybody could look at.
  ...{ supportsMutation: true, supportsPersistence: false, supportsHydration: false, isPrimaryRenderer: true },
  ...{ createInstance: () => ({}), createTextInstance: () => ({}), getPublicInstance: (instance: object) => instance },
  ...{ appendInitialChild: nothing, appendChild: nothing, appendChildToContainer: nothing, insertBefore: nothing },
  ...{ insertInContainerBefore: nothing, removeChild: nothing, removeChildFromContainer: nothing },
  ...{ clearContainer: nothing, commitUpdate: nothing, commitTextUpdate: nothing, resetTextContent: nothing },
  ...{ finalizeInitialChildren: () => false, shouldSetTextContent: () => false, detachDeletedInstance: nothing },
  ...{ hideInstance: nothing, hideTextInstance: nothing, unhideInstance: nothing, unhideTextInstance: nothing },
  ...{ getRootHostContext: () => ({}), getChildHostContext: (above: object) => above, preparePortalMount: nothing },
  ...{ prepareForCommit: () => null, resetAfterCommit: nothing, maySuspendCommit: () => false },
  ...{ scheduleTimeout: setTimeout, cancelTimeout: clearTimeout, noTimeout: -1 },
  ...{ scheduleMicrotask: queueMicrotask, supportsMicrotasks: true, shouldAttemptEagerTransition: () => false },
  setCurrentUpdatePriority(next: number) {
    priority = next
  },
  getCurrentUpdatePriority: () => priority,
  resolveUpdatePriority: () => priority || DefaultEventPriority,
  ...{ trackSchedulerEvent: nothing, resolveEventType: () => null, resolveEventTimeStamp: () => -1.1 },
  ...{ requestPostPaintCallback: nothing, resetFormInstance: nothing, NotPendingTransition: null },
  ...{ startSuspendingCommit: () => null, suspendInstance: nothing, waitForCommitToBeReady: () => null },
  ...{ getInstanceFromNode: () => null, beforeActiveInstanceBlur: nothing, afterActiveInstanceBlur: nothing },
  ...{ prepareScopeUpdate: nothing, getInstanceFromScope: () => null, preloadInstance: () => true },
} as never)

/** Renders components until the end of a test, or until the returned function is called. */
export function render(context: TestContext, element: ReactNode): () => void {
  const failed = (error: unknown) => {
    throw error
  }
  const root = createContainer({}, ConcurrentRoot, null, false, null, '', failed, failed, failed, nothing, null)
  updateContainer(element, root, null)
  const remove = () => updateContainer(null, root, null)
  context.after(remove)
  return remove
}

/** Waits until a value is there, as an effect or a response sets it. */
export async function until<Value>(value: () => Value | undefined | false, what: string): Promise<Value> {
  for (let attempt = 0; attempt < 3_000; attempt++) {
    const found = value()
    if (found !== undefined && found !== false) return found
    await sleep(10)
  }
  throw new Error(`After half a minute: ${what}.`)
}
