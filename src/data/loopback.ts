/** localhost, 127.0.0.0/8 and ::1, as the URL parser spells them. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** `localhost` and every name below it: RFC 6761 gives them to this machine, a resolver may not. */
export function isLocalName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname);
}
