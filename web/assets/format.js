// Numbers and JSON as people read them. Text becomes DOM through textContent alone: nothing that a
// stream holds is ever markup.

const group = new Intl.NumberFormat("en-US");

export const count = (n) => group.format(n);

export function bytes(n) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = n;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export const rate = (n) => (n >= 100 ? count(Math.round(n)) : n >= 10 || n === 0 ? n.toFixed(0) : n.toFixed(1));

export function element(tag, class_name = "", text = null) {
  const made = document.createElement(tag);
  if (class_name) made.className = class_name;
  if (text !== null) made.textContent = text;
  return made;
}

export const set_text = (id, text) => {
  const found = document.getElementById(id);
  if (found.textContent !== text) found.textContent = text;
};

const kToken = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

/** Appends JSON text to `parent`, its parts coloured by class. Any other text comes out as it is. */
export function append_json(parent, text) {
  let at = 0;
  const add = (class_name, piece) => parent.append(class_name ? element("span", class_name, piece) : piece);
  for (const match of text.matchAll(kToken)) {
    if (match.index > at) add("", text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] !== undefined) {
      add("j-key", match[1]);
      add("", match[2]);
    } else {
      add(match[1] ? "j-string" : match[3] ? "j-number" : "j-word", match[0]);
    }
  }
  if (at < text.length) add("", text.slice(at));
}

/** JSON text over several lines, its numbers and order untouched; null if it is no JSON. */
export function pretty(text) {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  return text.replace(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\]:,]|\s+/g, (token) => {
    switch (token[0]) {
      case "{": case "[":
        if (token.length > 1) return token[0] + token.at(-1);
        depth += 1;
        return token + line();
      case "}": case "]":
        depth -= 1;
        return line() + token;
      case ",": return token + line();
      case ":": return ": ";
      case '"': return token;
      default: return "";
    }
  });
}

/** One word of a POSIX shell command. */
export const shell_word = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
