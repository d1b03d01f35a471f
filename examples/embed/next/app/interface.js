/**
 * The interface, opened with the first request. It is opened once, although Next.js loads modules again in development
 * and has one copy of a module for routes and another for pages.
 */
export async function openInterface() {
  globalThis.tasksInterface ??= import('../../tasks.js').then(({ api }) => api)
  return globalThis.tasksInterface
}
