"""The estimator `TSNE`: Algorithms 1 and 2 of the paper, assembled from steps 1 to 3.

* ``estimator``: the public class
* ``fit``: the algorithm, from the input to the finished map; the stages for users
* ``input``: the input of a fit, and landmarks
* ``plan``, ``memory``: all automatic choices, and the memory they need
* ``place``: coordinates of new points
* ``series``: maps aligned to a previous map, and rows that join a map
* ``model_file``, ``checkpoint``: models and interrupted runs on disk
* ``hints``: what parameters of other packages are called here
"""
