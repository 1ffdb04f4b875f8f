/** A conversation that has not begun. */
import { useWords } from "../../i18n/words";
import { Icon } from "../../ui/icons";
import "./welcome.css";

const WORDS = {
  title: ["What shall we do?", "我们要做什么？"],
  text: ["The agent works in your folder. The mode below decides what it may do by itself.", "代理在你的文件夹中工作。下方的模式决定它可以自行做什么。"],
} as const;

export function Welcome({}: { id: string | null }) {
  const t = useWords(WORDS);
  return (
    <section className="welcome">
      <Icon name="helm" size={44} />
      <h1>{t("title")}</h1>
      <p className="soft">{t("text")}</p>
    </section>
  );
}
