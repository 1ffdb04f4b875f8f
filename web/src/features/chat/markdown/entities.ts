/** Characters that are written by name. Marked resolves numbers, but leaves names to a browser's HTML: we have none. */

const BY_NAME: Readonly<Record<string, string>> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", ensp: "\u2002", emsp: "\u2003", thinsp: "\u2009",
  copy: "©", reg: "®", trade: "™", sect: "§", para: "¶", deg: "°", micro: "µ", middot: "·", bull: "•", hellip: "…",
  ndash: "–", mdash: "—", lsquo: "‘", rsquo: "’", sbquo: "‚", ldquo: "“", rdquo: "”", bdquo: "„", laquo: "«", raquo: "»",
  lsaquo: "‹", rsaquo: "›", dagger: "†", Dagger: "‡", permil: "‰", prime: "′", Prime: "″", cent: "¢", pound: "£",
  yen: "¥", euro: "€", curren: "¤", larr: "←", uarr: "↑", rarr: "→", darr: "↓", harr: "↔", lArr: "⇐", rArr: "⇒",
  hArr: "⇔", times: "×", divide: "÷", plusmn: "±", minus: "−", ne: "≠", le: "≤", ge: "≥", asymp: "≈", equiv: "≡",
  infin: "∞", sum: "∑", prod: "∏", radic: "√", int: "∫", part: "∂", nabla: "∇", isin: "∈", notin: "∉", cap: "∩",
  cup: "∪", sub: "⊂", sup: "⊃", forall: "∀", exist: "∃", empty: "∅", and: "∧", or: "∨", not: "¬", sup1: "¹", sup2: "²",
  sup3: "³", frac12: "½", frac14: "¼", frac34: "¾", alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε",
  theta: "θ", lambda: "λ", mu: "μ", pi: "π", rho: "ρ", sigma: "σ", tau: "τ", phi: "φ", omega: "ω", Gamma: "Γ",
  Delta: "Δ", Theta: "Θ", Lambda: "Λ", Pi: "Π", Sigma: "Σ", Phi: "Φ", Omega: "Ω", check: "✓", cross: "✗", star: "☆",
  iexcl: "¡", iquest: "¿", szlig: "ß", auml: "ä", ouml: "ö", uuml: "ü", Auml: "Ä", Ouml: "Ö", Uuml: "Ü", eacute: "é",
  egrave: "è", ecirc: "ê", agrave: "à", aacute: "á", acirc: "â", ccedil: "ç", ntilde: "ñ", oslash: "ø", aring: "å",
  lbrace: "{", rbrace: "}", lbrack: "[", rbrack: "]", lpar: "(", rpar: ")", vert: "|", grave: "`", lowbar: "_", ast: "*",
};

/** A name that is not known stays as typed. */
export function withoutEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&([A-Za-z][A-Za-z0-9]*);/g, (typed, name: string) => (Object.hasOwn(BY_NAME, name) ? BY_NAME[name] ?? typed : typed));
}
