"""Topics of documents: a model for document-term matrices, their top words, coherence and stability."""

from altmin.text.quality import diversity, npmi_coherence, top_words, topic_stability
from altmin.text.topics import TopicModel

__all__ = ["TopicModel", "diversity", "npmi_coherence", "top_words", "topic_stability"]
