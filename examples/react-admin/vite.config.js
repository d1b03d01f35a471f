/** The page asks its own origin for `/v1`, and Vite passes that on to the interface. */
export default { server: { proxy: { '/v1': 'http://127.0.0.1:8080' } } }
