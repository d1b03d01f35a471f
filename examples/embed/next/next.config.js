/** The package is loaded by Node.js itself, not bundled. */
export default { serverExternalPackages: ['resourced'] }
