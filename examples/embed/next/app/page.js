export default function Page() {
  return <p>This page is of Next.js.</p>
}
