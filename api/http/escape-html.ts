/** The text as it stands in HTML, in attributes too. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)
